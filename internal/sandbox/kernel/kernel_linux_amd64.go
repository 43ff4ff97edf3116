package kernel

const sysSeccomp = 317
