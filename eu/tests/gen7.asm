; # A multiplication of dwords reads the low word of source 1, after its modifier.
; device ivb
; set g2 D: 3 -3 0x10000 7 -1 100000 5 0
; set g3 D: 0x20005 5 3 -1 -1 100000 0x10000 9
mul(8) g10<1>D g2<8,8,1>D g3<8,8,1>D { align1 1Q };
mul(8) g11<1>D g2<8,8,1>D -g3<8,8,1>D { align1 1Q };
mul(8) g12<1>D g2<8,8,1>D -2D { align1 1Q };
; is g10 D: 15 -15 196608 458745 -65535 -848567296 0 0
; is g11 D: 196593 -196593 -196608 7 -1 -1187767296 0 0
; is g12 D: 196602 -196602 -131072 458738 -65534 -2036534592 327670 0
---
; # On Gen8 it reads all of it.
; device bdw
; set g2 D: 3 -3 0x10000 7 -1 5 5 0
; set g3 D: 0x20005 5 3 -1 -1 1 0x10000 9
mul(8) g10<1>D g2<8,8,1>D g3<8,8,1>D { align1 1Q };
; is g10 D: 393231 -15 196608 -7 1 5 327680 0
---
; # Products of 64 bits: the low word into the accumulator, then mach.
; device hsw
; set g2 UD: 0xffffffff 0x12345678 3 0x80000000 0*4
; set g3 UD: 0xffffffff 0x9abcdef0 5 0x80000000 0*4
mul(8) acc0<1>UD g2<8,8,1>UD g3<8,8,1>UD { align1 1Q };
mach(8) g10<1>UD g2<8,8,1>UD g3<8,8,1>UD { align1 1Q AccWrEnable };
mov(8) g11<1>UD acc0<8,8,1>UD { align1 1Q };
mul(8) acc0<1>D g2<8,8,1>D g3<8,8,1>D { align1 1Q };
mach(8) g12<1>D g2<8,8,1>D g3<8,8,1>D { align1 1Q AccWrEnable };
; is g10 UD: 0xfffffffe 0x0b00ea4e 0 0x40000000 0*4
; is g11 UD: 1 0x242d2080 15 0 0*4
; is g12 D: 0 -120810538 0 0x40000000 0*4
---
; # Ivy Bridge takes acc1 for the second eight channels, which integers do not have.
; device ivb
; set g2 UD: 5*8
mach(8) g10<1>UD g2<8,8,1>UD g2<8,8,1>UD { align1 2Q AccWrEnable };
; fault: acc1, which integers do not have
---
; device hsw
; set g2 UD: 5*8
; set acc0 UD: 0*8
mach(8) g10<1>UD g2<8,8,1>UD g2<8,8,1>UD { align1 2Q AccWrEnable };
; is g10 UD: 0*8
---
; # Negation of logic operands is that of numbers before Gen8.
; device hsw
; set g2 UD: 5*8
and(8) g10<1>UD -g2<8,8,1>UD 0xffUD { align1 1Q };
; is g10 UD: 0xfb*8
---
; # Half floats are words.
; device ivb
; set g2 F: 1.0 -2.0 0.5 65504.0 1e6 0.0 -0.0 0.333251953125
; set g10 UD: 0*8
f32to16(8) g10<2>UW g2<8,8,1>F { align1 1Q };
f16to32(8) g11<1>F g10<16,8,2>UW { align1 1Q };
; is g10 UD: 0x3c00 0xc000 0x3800 0x7bff 0x7c00 0 0x8000 0x3555
; is g11 F: 1.0 -2.0 0.5 65504.0 inf 0.0 -0.0 0.333251953125
---
; # Three sources: align16, eight channels at once.
; device ivb
; set g2 F: 1 2 3 4 5 6 7 8
; set g3 F: 10*8
; set g4 F: 0.5*8
mad(8) g10<1>F g2<4,4,1>F g3<4,4,1>F g4.0<0,1,0>F { align16 1Q };
; is g10 F: 6 7 8 9 10 11 12 13
---
; # Divergent branches: offsets in units of eight bytes.
; device ivb
; simd 8
; set g2 D: 0 1 2 3 4 5 6 7
; set g10 D: 0*8
cmp.l.f0.0(8) null<1>D g2<8,8,1>D 4D { align1 1Q switch };
(+f0.0) if(8) JIP: L1 UIP: L2 { align1 1Q };
mov(8) g10<1>D 100D { align1 1Q };
else(8) JIP: L2 { align1 1Q };
L1:
mov(8) g10<1>D 200D { align1 1Q };
L2:
endif(8) JIP: L3 { align1 1Q };
L3:
LOOP:
add(8) g10<1>D g10<8,8,1>D 1D { align1 1Q };
add(8) g2<1>D g2<8,8,1>D 50D { align1 1Q };
cmp.l.f0.0(8) null<1>D g2<8,8,1>D 203D { align1 1Q switch };
(+f0.0) while(8) JIP: LOOP { align1 1Q };
; is g10 D: 105 105 105 104 204 204 204 204
---
; # jmpi counts from the next instruction: in eights of bytes on Ivy Bridge, in bytes on Haswell.
; device ivb
mov(1) g10<1>D 1D { align1 WE_all 1N };
jmpi(1) JIP: END { align1 WE_all 1N };
mov(1) g10<1>D 2D { align1 WE_all 1N };
END:
nop;
; is g10 D: 1
---
; device hsw
mov(1) g10<1>D 1D { align1 WE_all 1N };
jmpi(1) JIP: END { align1 WE_all 1N };
mov(1) g10<1>D 2D { align1 WE_all 1N };
END:
nop;
; is g10 D: 1
---
; # Ivy Bridge: untyped messages at the data cache. All memory is one buffer, so that addresses are offsets.
; device ivb
; surface 0: RAW 2147483648 at 0
; set g20 UD: 0x10000 0x10004 0x10008 0x1000c 0x10010 0x10014 0x10018 0x1001c 0x10020 0x10024 0x10028 0x1002c 0x10030 0x10034 0x10038 0x1003c
; set g22 UD: 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15
send(16) null<1>UW g20<8,8,1>UD 0x08035e00 data MsgDesc: mlen 4 rlen 0 { align1 1H };
send(16) g30<1>UW g20<8,8,1>UD 0x04215e00 data MsgDesc: mlen 2 rlen 2 { align1 1H };
send(16) g32<1>UW g20<8,8,1>UD 0x0821a700 data MsgDesc: mlen 4 rlen 2 { align1 1H };
; is g30 UD: 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15
; is g32 UD: 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15
; is 10000 UD: 0 2 4 6 8 10 12 14 16 18 20 22 24 26 28 30
---
; # The port of Haswell has them elsewhere, and Ivy Bridge has no such port.
; device hsw
; simd 8
; surface 0: RAW 2147483648 at 0
; set g20 UD: 0x10000*8
send(8) g30<1>UW g20<8,8,1>UD 0x02116e00 data MsgDesc: mlen 1 rlen 1 { align1 1Q };
; lenient
; fault: message to DataCache: type 0x5
---
; device hsw
; simd 8
; surface 3: RAW 64 at 10000
; set g20 UD: 0 4 8 12 16 60 64 68
; set 10000 UD: 100 101 102 103 104 105 106 107 108 109 110 111 112 113 114 115 116 117
send(8) g30<1>UW g20<8,8,1>UD 0x02106e03 dp data 1 MsgDesc: mlen 1 rlen 1 { align1 1Q };
; is g30 UD: 100 101 102 103 104 115 0 0
---
; # Bytes, at any address.
; device ivb
; simd 8
; surface 0: RAW 2147483648 at 0
; set g20 UD: 0x10001 0x10003 0x10005 0x10007 0x10009 0x1000b 0x1000d 0x1000f
; set g21 UD: 0x101 0x102 0x103 0x104 0x105 0x106 0x107 0x108
send(8) null<1>UW g20<8,8,1>UD 0x04030000 data MsgDesc: mlen 2 rlen 0 { align1 1Q };
send(8) g30<1>UW g20<8,8,1>UD 0x02110000 data MsgDesc: mlen 1 rlen 1 { align1 1Q };
; is g30 UD: 1 2 3 4 5 6 7 8
; is 10000 UD: 0x02000100 0x04000300 0x06000500 0x08000700
---
; # Shared local memory and its atomics.
; device ivb
; local 4096
; set g20 UD: 0*16
; set g22 UD: 0*16
; set g24 UD: 1*16
send(16) null<1>UW g20<8,8,1>UD 0x08035efe data MsgDesc: mlen 4 rlen 0 { align1 1H };
mov(16) g22<1>UD g24<8,8,1>UD { align1 1H };
send(16) g30<1>UW g20<8,8,1>UD 0x0821a7fe data MsgDesc: mlen 4 rlen 2 { align1 1H };
; is g30 UD: 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15
---
; # Scratch blocks of four registers have another code than on Gen8.
; device ivb
; scratch 1024
; set g21 UD: 1 2 3 4 5 6 7 8
; set g22 UD: 9 10 11 12 13 14 15 16
; set g23 UD: 17*8
; set g24 UD: 18*8
mov(8) g20<1>UD g0<8,8,1>UD { align1 WE_all 1Q };
send(16) null<1>UW g20<8,8,1>UD 0x0a0e3002 data MsgDesc: mlen 5 rlen 0 { align1 WE_all 1H };
send(16) g30<1>UW g20<8,8,1>UD 0x024c3002 data MsgDesc: mlen 1 rlen 4 { align1 WE_all 1H };
; is g30 UD: 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17*8 18*8
; is 10040 UD: 1 2 3 4
---
; device ivb
; scratch 1024
mov(8) g20<1>UD g0<8,8,1>UD { align1 WE_all 1Q };
send(16) g30<1>UW g20<8,8,1>UD 0x024c2002 data MsgDesc: mlen 1 rlen 4 { align1 WE_all 1H };
; lenient
; fault: not simulated: message to DataCache
---
; # A block is read as far as the surface goes, and written where channels are enabled.
; device hsw
; simd 8
; mask 0x35
; surface 1: RAW 20 at 10000
; surface 2: RAW 4096 at 10100
; set 10000 UD: 1 2 3 4 5 6 7 8
; set 10100 UD: 9*8
; set g20 UD: 0*8
; set g21 UD: 11 12 13 14 15 16 17 18
send(8) g30<1>UW g20<8,8,1>UD 0x02180201 data MsgDesc: mlen 1 rlen 1 { align1 WE_all 1Q };
send(8) null<1>UW g20<8,8,1>UD 0x040a0202 data MsgDesc: mlen 2 rlen 0 { align1 1Q };
; is g30 UD: 1 2 3 4 5 0 0 0
; is 10100 UD: 11 9 13 9 15 16 9 9
---
; # A barrier, after fences of both caches.
; device ivb
; threads 4
; local 4096
; surface 0: RAW 2147483648 at 0
mov(16) g20<1>UD g1<8,8,1>UW { align1 1H };
shl(16) g22<1>UD g20<8,8,1>UD 2UD { align1 1H };
mov(16) g24<1>UD g20<8,8,1>UD { align1 1H };
send(16) null<1>UW g22<8,8,1>UD 0x08035efe data MsgDesc: mlen 4 rlen 0 { align1 1H };
mov(8) g40<1>UD g0<8,8,1>UD { align1 WE_all 1Q };
send(8) g42<1>UW g40<8,8,1>UD 0x0219e000 data MsgDesc: mlen 1 rlen 1 { align1 WE_all 1Q };
send(8) g43<1>UW g40<8,8,1>UD 0x0219e000 render MsgDesc: mlen 1 rlen 1 { align1 WE_all 1Q };
and(8) g40<1>UD g0.2<0,1,0>UD 0x0f000000UD { align1 WE_all 1Q };
send(8) null<1>UW g40<8,8,1>UD 0x02000004 gateway MsgDesc: mlen 1 rlen 0 { align1 WE_all 1Q };
wait(1) n0<1>UD { align1 WE_all 1N };
add(16) g26<1>UD g22<8,8,1>UD 64UD { align1 1H };
and(16) g26<1>UD g26<8,8,1>UD 0xffUD { align1 1H };
send(16) g24<1>UW g26<8,8,1>UD 0x04215efe data MsgDesc: mlen 2 rlen 2 { align1 1H };
add(16) g22<1>UD g22<8,8,1>UD 0x10000UD { align1 1H };
send(16) null<1>UW g22<8,8,1>UD 0x08035e00 data MsgDesc: mlen 4 rlen 0 { align1 1H };
; is 10000 UD: 16 17 18 19
; is 100c0 UD: 0 1 2 3
---
; # Doubles of Ivy Bridge: two channels each, one bit of masks and flags.
; device ivb
; simd 8
; mask 0x7
; set g2 DF: 1.0 2.0 3.0 4.0
; set g3 DF: 10.0 20.0 30.0 40.0
; set g4 DF: 0.0*4
; set g5 F: 1.5 2.5 3.5 4.5 5.5 6.5 7.5 8.5
; set g6 DF: 0.0*4
; set g7 UD: 0*8
; set g8 DF: 0.0*4
; set g9 DF: 0.0*4
add(8) g4<1>DF g2<8,8,1>DF g3.1<0,2,1>DF { align1 1N };
mov(8) g6<1>DF g5<1,2,0>F { align1 WE_all 1N };
mov(8) g8<1>DF g5<8,8,1>F { align1 WE_all 1N };
mov(8) g7<1>F g2<8,8,1>DF { align1 1N };
mad(8) g9<1>DF g2<4,4,1>DF g3<4,4,1>DF g2<4,4,1>DF { align16 1N };
; is g4 DF: 21.0 22.0 23.0 0.0
; is g6 DF: 1.5 2.5 3.5 4.5
; is g8 DF: 1.5 3.5 5.5 7.5
; is g7 F: 1.0
; is g7.2 F: 2.0
; is g7.4 F: 3.0
; is g9 DF: 11.0 42.0 93.0 0.0
---
; # A comparison of doubles sets one bit for each.
; device ivb
; set g2 DF: 1.0 2.0 3.0 4.0
; set g4 UD: 0*8
mov(1) f0<1>UW 0x0000UW { align1 WE_all 1N };
cmp.g.f0.0(8) null<1>DF g2<8,8,1>DF g2.1<0,2,1>DF { align1 WE_all 1N switch };
mov(1) g4<1>UW f0<0,1,0>UW { align1 WE_all 1N };
; is g4 UD: 12
---
; # Halves of doubles do not stand alone.
; device ivb
; lenient
; set g2 DF: 1.0 2.0 3.0 4.0
add(8) g4<1>DF g2<8,4,2>DF g2<8,8,1>DF { align1 1N };
; fault: splits the halves of doubles
