; # Untyped atomics in shared local memory: each lane adds 1 to one counter and gets its turn.
; local 4096
; set g20 UD: 0*16
; set g22 UD: 1*16
send(16) g30<1>UD g20<8,8,1>UD 0x0820a7fe dp data 1 MsgDesc: mlen 4 rlen 2 { align1 1H };
send(16) g32<1>UD g20<8,8,1>UD 0x04205efe dp data 1 MsgDesc: mlen 2 rlen 2 { align1 1H };
; lenient
; is g30 UD: 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15
---
; # Byte scattered write and read, any address.
; simd 8
; set g20 UD: 0x10001 0x10003 0x10005 0x10007 0x10009 0x1000b 0x1000d 0x1000f
; set g21 UD: 0x101 0x102 0x103 0x104 0x105 0x106 0x107 0x108
send(8) null<1>UD g20<8,8,1>UD 0x040300ff data MsgDesc: mlen 2 rlen 0 { align1 1Q };
send(8) g30<1>UD g20<8,8,1>UD 0x021100ff data MsgDesc: mlen 1 rlen 1 { align1 1Q };
; is g30 UD: 1 2 3 4 5 6 7 8
; is 10000 UD: 0x02000100 0x04000300 0x06000500 0x08000700
---
; # A64 scattered qwords under a mask.
; simd 8
; mask 0x05
; set g20 UQ: 0x10000 0x10010 0x10020 0x10030
; set g21 UQ: 0*4
; set g22 UQ: 0x1111111122222222 2 0x3333333344444444 4
; set g23 UQ: 0*4
; set 10000 UD: 9*16
send(8) null<1>UD g20<8,8,1>UD 0x080682ff dp data 1 MsgDesc: mlen 4 rlen 0 { align1 1Q };
; is 10000 UD: 0x22222222 0x11111111 9 9 9 9 9 9 0x44444444 0x33333333 9 9 9 9 9 9
---
; # Four channels take one register of 64-bit addresses: the next has never been written.
; simd 8
; set g20 UQ: 0x10000 0x10004 0x10008 0x1000c
; set 10000 UD: 5 6 7 8
send(4) g30<1>UD g20<4,4,1>UD 0x04146eff dp data 1 MsgDesc: mlen 2 rlen 1 { align1 WE_all 1N };
; is g30 UD: 5 6 7 8
---
; # A page fault names lane and address.
; simd 8
; set g20 UQ: 0x10000 0x10004 0x10008 0x5000
; set g21 UQ: 0x10000*4
send(8) g30<1>UD g20<8,8,1>UD 0x04146eff dp data 1 MsgDesc: mlen 2 rlen 1 { align1 1Q };
; fault: page fault: read at 0x5000
---
; # An unaligned dword.
; simd 8
; set g20 UQ: 0x10002*4
; set g21 UQ: 0x10000*4
send(8) g30<1>UD g20<8,8,1>UD 0x04146eff dp data 1 MsgDesc: mlen 2 rlen 1 { align1 1Q };
; fault: is not a multiple of 4
---
; # Outside of shared local memory.
; simd 8
; local 1024
; set g20 UD: 1024*8
send(8) g30<1>UD g20<8,8,1>UD 0x02106efe dp data 1 MsgDesc: mlen 1 rlen 1 { align1 1Q };
; fault: outside of the 1024 bytes of shared local memory
---
; # A64 atomic compare and write, 64-bit operands.
; simd 8
; mask 0x03
; set g20 UQ: 0x10000 0x10008 0x10010 0x10018
; set g21 UQ: 0x10000*4
; set g22 UQ: 5 6 0 0
; set g23 UQ: 0*4
; set g24 UQ: 50 60 0 0
; set g25 UQ: 0*4
; set 10000 UQ: 5 7
send(8) g40<1>UD g20<8,8,1>UD 0x0c24beff dp data 1 MsgDesc: mlen 6 rlen 2 { align1 1Q };
; is 10000 UQ: 50 7
; is g40 UQ: 5 7
---
; # Scratch blocks.
; scratch 1024
; set g20 UD: 0*8
; set g21 UD: 1 2 3 4 5 6 7 8
; set g22 UD: 9 10 11 12 13 14 15 16
mov(8) g20<1>UD g0<8,8,1>UD { align1 WE_all 1Q };
send(16) null<1>UD g20<8,8,1>UD 0x060e1002 data MsgDesc: mlen 3 rlen 0 { align1 WE_all 1H };
send(16) g30<1>UD g20<8,8,1>UD 0x022c1002 data MsgDesc: mlen 1 rlen 2 { align1 WE_all 1H };
; is g30 UD: 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16
; is 10040 UD: 1 2 3 4
---
; # OWord block at a 64-bit address.
; set g20 UQ: 0x10010 0 0 0
; set 10010 UD: 1 2 3 4 5 6 7 8
send(8) g30<1>UD g20<8,8,1>UD 0x021d02ff dp data 1 MsgDesc: mlen 1 rlen 1 { align1 WE_all 1Q };
; is g30 UD: 1 2 3 4 5 6 7 8
---
; # A barrier between the threads of a group: each writes its id, then reads its neighbour's.
; threads 4
; local 4096
; cr0 0x4c0
mov(16) g20<1>UD g1<8,8,1>UW { align1 1H };
shl(16) g22<1>UD g20<8,8,1>UD 2UD { align1 1H };
mov(16) g24<1>UD g20<8,8,1>UD { align1 1H };
sends(16) null<1>UD g22UD g24UD 0x04025efe 0x0000008c dp data 1 MsgDesc: mlen 2 rlen 0 { align1 1H };
mov(8) g40<1>UD 0UD { align1 WE_all 1Q };
send(8) null<1>UD g40<8,8,1>UD 0x02000004 gateway MsgDesc: mlen 1 rlen 0 { align1 WE_all 1Q };
wait(1) n0<1>UD { align1 WE_all 1N };
add(16) g26<1>UD g22<8,8,1>UD 64UD { align1 1H };
and(16) g26<1>UD g26<8,8,1>UD 0xffUD { align1 1H };
send(16) g30<1>UD g26<8,8,1>UD 0x04205efe dp data 1 MsgDesc: mlen 2 rlen 2 { align1 1H };
add(16) g22<1>UD g22<8,8,1>UD 0x10000UD { align1 1H };
sends(16) null<1>UD g22UD g30UD 0x04025eff 0x0000008c dp data 1 MsgDesc: mlen 2 rlen 0 { align1 1H };
; is 10000 UD: 16 17 18 19
; is 100c0 UD: 0 1 2 3
---
; # A barrier that one thread never reaches.
; threads 2
mov(1) f0<1>UD 0UD { align1 WE_all 1N };
cmp.z.f0.0(16) null<1>UD g1<0,1,0>UW 0UD { align1 1H };
(+f0.0.any16h) jmpi(1) JIP: SKIP { align1 WE_all 1N };
mov(8) g40<1>UD 0UD { align1 WE_all 1Q };
send(8) null<1>UD g40<8,8,1>UD 0x02000004 gateway MsgDesc: mlen 1 rlen 0 { align1 WE_all 1Q };
wait(1) n0<1>UD { align1 WE_all 1N };
SKIP:
nop;
; lenient
; fault: wait for a barrier that the others never reach
---
; # A thread that waits in a loop for what another one of its group writes.
; threads 2
; set 10000 UD: 0
mov(16) g22<1>UD 0x10000UD { align1 1H };
mov(1) f0<1>UD 0UD { align1 WE_all 1N };
cmp.z.f0.0(16) null<1>UD g1<0,1,0>UW 0UD { align1 1H };
(+f0.0.any16h) jmpi(1) JIP: LOOP { align1 WE_all 1N };
mov(16) g24<1>UD 7UD { align1 1H };
sends(16) null<1>UD g22UD g24UD 0x04025eff 0x0000008c dp data 1 MsgDesc: mlen 2 rlen 0 { align1 1H };
jmpi(1) JIP: END { align1 WE_all 1N };
LOOP:
send(16) g30<1>UD g22<8,8,1>UD 0x04205eff dp data 1 MsgDesc: mlen 2 rlen 2 { align1 1H };
cmp.z.f0.0(16) null<1>UD g30<8,8,1>UD 0UD { align1 1H };
(+f0.0.any16h) jmpi(1) JIP: LOOP { align1 WE_all 1N };
END:
nop;
; is 10000 UD: 7
---
; # Messages that are not simulated are named.
; simd 8
; set g20 UD: 0*8
send(8) g30<1>UD g20<8,8,1>UD 0x04428001 sampler MsgDesc: mlen 2 rlen 4 { align1 1Q };
; fault: not simulated: message to the sampler: type 0x8
---
; # Byte scattered messages of words and dwords, at any address.
; simd 8
; set g20 UD: 0x10001 0x10005 0x10009 0x1000d 0x10011 0x10015 0x10019 0x1001d
; set g21 UD: 0x04030201 0x08070605 0x0c0b0a09 0x100f0e0d 0x14131211 0x18171615 0x1c1b1a19 0x201f1e1d
; set 10000 UD: 0*16
send(8) null<1>UD g20<8,8,1>UD 0x040308ff data MsgDesc: mlen 2 rlen 0 { align1 1Q };
send(8) g30<1>UD g20<8,8,1>UD 0x021108ff data MsgDesc: mlen 1 rlen 1 { align1 1Q };
send(8) g31<1>UD g20<8,8,1>UD 0x021104ff data MsgDesc: mlen 1 rlen 1 { align1 1Q };
; is 10000 UD: 0x03020100 0x07060504 0x0b0a0908 0x0f0e0d0c
; is g30 UD: 0x04030201 0x08070605 0x0c0b0a09 0x100f0e0d 0x14131211 0x18171615 0x1c1b1a19 0x201f1e1d
; is g31 UD: 0x0201 0x0605 0x0a09 0x0e0d 0x1211 0x1615 0x1a19 0x1e1d
---
; # The highest bits of an address in shared local memory do not matter.
; simd 8
; local 1024
; set g20 UD: 0x10000000 0x10000004 0x10000008 0x1000000c 0x20000010 0x30000014 0x80000018 0xf000001c
; set g21 UD: 1 2 3 4 5 6 7 8
; set g22 UD: 0 4 8 12 16 20 24 28
send(8) null<1>UD g20<8,8,1>UD 0x04026efe dp data 1 MsgDesc: mlen 2 rlen 0 { align1 1Q };
send(8) g30<1>UD g22<8,8,1>UD 0x02106efe dp data 1 MsgDesc: mlen 1 rlen 1 { align1 1Q };
; is g30 UD: 1 2 3 4 5 6 7 8
