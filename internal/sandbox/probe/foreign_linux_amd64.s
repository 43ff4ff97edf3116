#include "textflag.h"

// func socket32() int32
TEXT ·socket32(SB), NOSPLIT, $0-4
	MOVL $359, AX // socket in the 32-bit table
	MOVL $1, BX
	MOVL $1, CX
	MOVL $0, DX
	INT  $0x80
	MOVL AX, ret+0(FP)
	RET
