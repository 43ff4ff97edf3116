package kernel

const sysSeccomp = 277
