; # Floats to integers truncate and saturate.
; set g2 F: 1.9 -1.9 3e9 -3e9 nan 5e9 0.5 -0.5
mov(8) g10<1>D g2<8,8,1>F { align1 1Q };
mov(8) g11<1>UD g2<8,8,1>F { align1 1Q };
; is g10 D: 1 -1 2147483647 -2147483648 0 2147483647 0 0
; is g11 UD: 1 0 3000000000 0 0 4294967295 0 0
---
; # Integers to floats round to nearest even.
; set g2 D: 16777217 16777219 -16777217 -1 2147483647 0 1 -2147483648
mov(8) g10<1>F g2<8,8,1>D { align1 1Q };
mov(8) g11<1>F g2<8,8,1>UD { align1 1Q };
; is g10 F: 16777216 16777220 -16777216 -1 2147483648 0 1 -2147483648
; is g11 F: 16777216 16777220 4278190080 4294967296 2147483648 0 1 2147483648
---
; # Rounding to zero.
; cr0 0x4f0
; set g2 D: 16777217 16777219 -16777217 -1 2147483647 0 1 -2147483648
mov(8) g10<1>F g2<8,8,1>D { align1 1Q };
; is g10 F: 16777216 16777218 -16777216 -1 2147483520 0 1 -2147483648
---
; # Half floats.
; set g2 F: 1.0 -2.5 65520.0 1e-8 0.333333333 6.1e-5 nan 2049.0
mov(8) g10<2>HF g2<8,8,1>F { align1 1Q };
mov(8) g12<1>F g10<16,8,2>HF { align1 1Q };
; is g12 F: 1.0 -2.5 inf 0.0 0.33325195 0.00006097555 nan 2048.0
---
; # Narrowing wraps, with saturation it does not.
; set g2 D: 1 -1 300 -300 65536 32768 -32769 255
mov(8) g10<2>W g2<8,8,1>D { align1 1Q };
mov.sat(8) g12<2>W g2<8,8,1>D { align1 1Q };
mov(8) g14<1>D g10<16,8,2>W { align1 1Q };
mov(8) g15<1>D g12<16,8,2>W { align1 1Q };
; is g14 D: 1 -1 300 -300 0 -32768 32767 255
; is g15 D: 1 -1 300 -300 32767 32767 -32768 255
---
; # Saturated addition.
; set g2 D: 2147483647 -2147483648 5 0*5
; set g3 D: 1 -1 5 0*5
add.sat(8) g10<1>D g2<8,8,1>D g3<8,8,1>D { align1 1Q };
; is g10 D: 2147483647 -2147483648 10 0*5
---
; # The sign of a condition is that of the exact result, also when the result overflows.
; set g2 D: 2147483647 -2147483648 5 -5 0*4
; set g3 D: 1 -1 -5 4 0*4
add.l.f0.0(8) g10<1>D g2<8,8,1>D g3<8,8,1>D { align1 1Q };
; is g10 D: -2147483648 2147483647 0 -1 0*4
; is f0 UD: 0x0a
---
; # 64 bits.
; set g2 UQ: 0xffffffff 0x123456789 1 0
; set g4 UQ: 1 0x100000000 0xffffffffffffffff 7
add(4) g10<1>UQ g2<4,4,1>UQ g4<4,4,1>UQ { align1 1N };
mov(4) g12<1>UQ g2<8,4,2>UD { align1 1N };
; is g10 UQ: 0x100000000 0x223456789 0 7
; is g12 UQ: 0xffffffff 0x23456789 1 0
---
; # High half of a product: mul with the low word, mach with the high word.
; set g2 D: 2147483647 -5 123456789 -2147483648 1 0*3
; set g3 D: 2147483647 7 987654321 -2147483648 -1 0*3
mul(8) acc0<1>D g2<8,8,1>D g3<16,8,2>UW { align1 1Q };
mach(8) g10<1>D g2<8,8,1>D g3<8,8,1>D { align1 1Q AccWrEnable };
; is g10 D: 1073741823 -1 28389652 1073741824 -1 0*3
---
; # Carry and borrow.
; set g2 UD: 4294967295 1 5 0*5
; set g3 UD: 1 1 6 0*5
addc(8) g10<1>UD g2<8,8,1>UD g3<8,8,1>UD { align1 1Q AccWrEnable };
mov(8) g11<1>UD acc0<8,8,1>UD { align1 1Q };
subb(8) g12<1>UD g2<8,8,1>UD g3<8,8,1>UD { align1 1Q AccWrEnable };
mov(8) g13<1>UD acc0<8,8,1>UD { align1 1Q };
; is g10 UD: 0 2 11 0*5
; is g11 UD: 1 0 0 0*5
; is g12 UD: 4294967294 0 4294967295 0*5
; is g13 UD: 0 0 1 0*5
---
; # Bits.
; set g2 UD: 0 1 0x80000000 0x00f00000 0xffffffff 6 0*2
lzd(8) g10<1>UD g2<8,8,1>UD { align1 1Q };
fbl(8) g11<1>UD g2<8,8,1>UD { align1 1Q };
fbh(8) g12<1>UD g2<8,8,1>UD { align1 1Q };
fbh(8) g13<1>UD g2<8,8,1>D { align1 1Q };
cbit(8) g14<1>UD g2<8,8,1>UD { align1 1Q };
bfrev(8) g15<1>UD g2<8,8,1>UD { align1 1Q };
; is g10 UD: 32 31 0 8 0 29 32 32
; is g11 UD: 0xffffffff 0 31 20 0 1 0xffffffff 0xffffffff
; is g12 UD: 0xffffffff 31 0 8 0 29 0xffffffff 0xffffffff
; is g13 UD: 0xffffffff 31 1 8 0xffffffff 29 0xffffffff 0xffffffff
; is g14 UD: 0 1 1 4 32 2 0 0
; is g15 UD: 0 0x80000000 1 0x00000f00 0xffffffff 0x60000000 0 0
---
; # Bit fields: width, offset, data.
; set g2 UD: 8*8
; set g3 UD: 4 0 24 28 0*4
; set g4 UD: 0x12345678*4 0xff 0x80 0x7f 0
bfe(8) g10<1>UD g2<4,4,1>UD g3<4,4,1>UD g4<4,4,1>UD { align16 1Q };
bfe(8) g11<1>D g2<4,4,1>D g3<4,4,1>D g4<4,4,1>D { align16 1Q };
bfi1(8) g12<1>UD g2<8,8,1>UD g3<8,8,1>UD { align1 1Q };
; is g10 UD: 0x67 0x78 0x12 0x1 0xff 0x80 0x7f 0
; is g11 D: 0x67 0x78 0x12 0x1 -1 -128 127 0
; is g12 UD: 0xff0 0xff 0xff000000 0xf0000000 0xff*4
---
; # Bit fields: mask, data, background. The data begins at the mask's lowest bit.
; set g2 UD: 0xff0 0xff 0xf0000000 0 0xf0f 0xffffffff 0x80000000 8
; set g3 UD: 0x12345678*8
; set g4 UD: 0xaaaaaaaa*8
bfi2(8) g10<1>UD g2<4,4,1>UD g3<4,4,1>UD g4<4,4,1>UD { align16 1Q };
; is g10 UD: 0xaaaaa78a 0xaaaaaa78 0x8aaaaaaa 0xaaaaaaaa 0xaaaaa6a8 0x12345678 0x2aaaaaaa 0xaaaaaaa2
---
; # Packed vectors.
mov(8) g10<1>UW 0x76543210UV { align1 1Q };
mov(8) g11<1>W 0xfedcba98V { align1 1Q };
mov(4) g12<1>F 0x48402030VF { align1 1N };
; is g10 UW: 0 1 2 3 4 5 6 7
; is g11 W: -8 -7 -6 -5 -4 -3 -2 -1
; is g12 F: 1.0 0.5 2.0 3.0
---
; # Multiply-add rounds once.
; set g2 F: -1.0*8
; set g3 F: 1.0001*8
; set g4 F: 0.9999*8
mad(8) g10<1>F g2<4,4,1>F g3<4,4,1>F g4<4,4,1>F { align16 1Q };
; is g10 F: #b22bdb10*8
---
; # Integer division.
; set g2 D: 7 -7 7 -7 5 -5 -2147483648 0
; set g3 D: 2 2 -2 -2 0 0 -1 3
math intdiv(8) g10<1>D g2<8,8,1>D g3<8,8,1>D { align1 1Q };
math intmod(8) g11<1>D g2<8,8,1>D g3<8,8,1>D { align1 1Q };
; is g10 D: 3 -3 -3 3 2147483647 -2147483648 -2147483648 0
; is g11 D: 1 -1 1 -1 5 -5 0 0
---
; # Indirect sources and destinations.
; set g20 UD: 10 11 12 13 14 15 16 17
; set g21 UD: 18 19 20 21 22 23 24 25
mov(1) a0<1>UW 0x0288UW { align1 WE_all 1N };
mov(8) g10<1>UD g[a0]<8,8,1>UD { align1 1Q };
mov(8) a0<1>UW 0x76543210V { align1 WE_all 1Q };
shl(8) a0<1>UW a0<8,8,1>UW 2UW { align1 WE_all 1Q };
add(8) a0<1>UW a0<8,8,1>UW 0x280UW { align1 WE_all 1Q };
mov(8) g11<1>UD g[a0]<VxH,1,0>UD { align1 1Q };
; is g10 UD: 12 13 14 15 16 17 18 19
; is g11 UD: 10 11 12 13 14 15 16 17
---
; # Predicates of groups.
; set g10 UD: 0*16
; set g11 UD: 0*16
; set f0 UD: 0x0f01
(+f0.0.any8h) mov(16) g10<1>UD 1UD { align1 1H };
(+f0.0.all4h) mov(16) g12<1>UD 1UD { align1 WE_all 1H };
; lenient
; is g10 UD: 1*16
; is g12 UD: 0*8 1*4 0*4
---
; # Logic: a negated source is complemented.
; set g2 UD: 0xff00ff00*8
and(8) g10<1>UD ~g2<8,8,1>UD 0xffffUD { align1 1Q };
; is g10 UD: 0xff*8
---
; # Shift counts are taken modulo 32.
; set g2 D: -16*8
; set g3 D: 0 1 4 31 32 33 36 63
asr(8) g10<1>D g2<8,8,1>D g3<8,8,1>D { align1 1Q };
shl(8) g11<1>D g2<8,8,1>D g3<8,8,1>D { align1 1Q };
shr(8) g12<1>UD g2<8,8,1>UD g3<8,8,1>UD { align1 1Q };
; is g10 D: -16 -8 -1 -1 -16 -8 -1 -1
; is g11 D: -16 -32 -256 0 -16 -32 -256 0
; is g12 UD: 0xfffffff0 0x7ffffff8 0x0fffffff 1 0xfffffff0 0x7ffffff8 0x0fffffff 1
---
; # The accumulator of integers is acc0 for the upper channels too.
; set g2 UD: 1*8 4294967295 65536 5 0x12345678 4*4
; set g4 UD: 1*8 4294967295 65536 7 0x9abcdef0 0x80000000*4
mul(8) acc0<1>UD g3<8,8,1>UD g5<16,8,2>UW { align1 WE_all 1Q };
mach(8) g11<1>UD g3<8,8,1>UD g5<8,8,1>UD { align1 2Q AccWrEnable };
; is g11 UD: 0xfffffffe 1 0 0x0b00ea4e 2*4
---
; # Copies write the accumulator too, and numbers below zero are that in all of its bits.
; set g2 D: -5 7 -1 0*5
; set g3 D: 1*8
mov(8) g10<1>D g2<8,8,1>D { align1 1Q AccWrEnable };
mac.l.f0.0(8) g11<1>D g3<8,8,1>D g3<8,8,1>D { align1 1Q };
mov(8) acc0<1>D g2<8,8,1>D { align1 1Q };
mac.l.f0.1(8) g12<1>D g3<8,8,1>D g3<8,8,1>D { align1 1Q };
; is g11 D: -4 8 0 1*5
; is g12 D: -4 8 0 1*5
; is f0 UW: 1 1
---
; # A dot product reads channels that are not enabled, and writes none of them.
; set g2 F: 1 2 3 4 5 6 7 8
; set g3 F: 1 1 1 1 2 2 2 2
; set g10 F: 0*8
; set f0 UW: 0x00f1
(+f0.0) dp4(8) g10<1>F g2<4>F g3<4>F { align16 1Q };
; is g10 F: 10 0 0 0 52 52 52 52
---
; # Shift counts have six bits when source 0 or the destination has 64, whatever the type of the count.
; set g2 UD: 1 0 0x80000001 0 3 0 5 0
; set g4 UQ: 33 40 63 64
shl(4) g10<1>UQ g2<8,4,2>UD 32UD { align1 1N };
shr(4) g12<1>UQ g10<4,4,1>UQ g4<4,4,1>UQ { align1 1N };
shl(4) g14<2>UD g2<8,4,2>UD g4<4,4,1>UQ { align1 1N };
asr(4) g16<1>Q g2<8,4,2>D 32UD { align1 1N };
; is g10 UQ: 0x100000000 0x8000000100000000 0x300000000 0x500000000
; is g12 UQ: 0 0x800000 0 0x500000000
; is g14 UQ: 2 0x100 0x80000000 5
; is g16 Q: 0 -1 0 0
---
; # The sign of a sum of 64 bits is that of the wrapped sum.
; set g2 Q: 0x7fffffffffffffff -9223372036854775807 5 -5
; set g4 Q: 1 -2 -7 5
add.g.f0.0(4) g10<1>Q g2<4,4,1>Q g4<4,4,1>Q { align1 1N };
; is g10 Q: -9223372036854775808 9223372036854775807 -2 0
; is f0 UD: 2
---
; # Vector immediates of words for destinations that are a dword apart: every other element.
; set g2 UW: 12*16
add(4) g10<1>UD g2<0,1,0>UW 0x0c080400UV { align1 WE_all 1N };
mov(4) g11<2>UW 0x0c080400UV { align1 WE_all 1N };
; is g10 UD: 12 16 20 24
; is g11.0 UW: 0
; is g11.2 UW: 4
; is g11.4 UW: 8
; is g11.6 UW: 12
---
; # Half floats to bytes that are a dword apart, from byte 1 on: strict mode takes it, as Intel's compiler does it.
; set g2 HF: 1.0 -2.0 3.5 100.0 0.0 -0.5 7.0 127.0
; set g10 UD: 0x11223344*8
mov(8) g10.1<4>B g2<8,8,1>HF { align1 1Q };
; is g10 UD: 0x11220144 0x1122fe44 0x11220344 0x11226444 0x11220044 0x11220044 0x11220744 0x11227f44
---
; # The Atom line's multiplier is narrower: products of dwords want them a qword apart.
; device bxt
; fault: atom.stride
mul(8) g4<1>D g6<8,8,1>D g8<8,8,1>D { align1 1Q };
---
; device bxt
; set g6 D: 3 0 5 0 7 0 9 0
; set g8 D: 10 0 20 0 -30 0 40 0
mul(4) g4<2>D g6<8,4,2>D g8<8,4,2>D { align1 1N };
; is g4 D: 30
; is g4.2 D: 100
; is g4.4 D: -210
; is g4.6 D: 360
---
; # smov: the channels that the immediate names, at a0 and on; registers behind the last of them do not matter.
; set g2 UD: 1 2 3 4 5 6 7 8
; set g10 UD: 0*8
; set g127 UD: 0*8
mov(1) a0<1>UW 0x0144UW { align1 WE_all 1N };
smov(8) g[a0]<1>UD g2<8,8,1>UD 0x0005UW { align1 1Q };
mov(1) a0<1>UW 0x0ff8UW { align1 WE_all 1N };
smov(8) g[a0]<1>UD g2<0,1,0>UD 0x0003UW { align1 1Q };
mov(8) g11<1>UD g127<8,8,1>UD { align1 1Q };
; is g10 UD: 0 1 0 3 0 0 0 0
; is g11 UD: 0*6 1 1
---
; # smov of other channels than the first ones: bit 0 is the instruction's first one
; simd 16
; set g2 UD: 1 2 3 4 5 6 7 8
; set g10 UD: 0*8
smov(8) g10<1>UD g2<8,8,1>UD 0x0005UW { align1 2Q };
; is g10 UD: 1 0 3 0 0 0 0 0
---
; # smov of one channel: other bits name no channel of it, and nothing is written.
; set g2 UD: 1 2
; set g10 UD: 8 9
smov(1) g10<1>UD g2<0,1,0>UD 0x0001UW { align1 WE_all 1N };
smov(1) g10.1<1>UD g2<0,1,0>UD 0x0002UW { align1 WE_all 1N };
; is g10 UD: 1 9
---
; # smov beyond the registers
; set g2 UD: 1 2 3 4 5 6 7 8
mov(1) a0<1>UW 0x0ffcUW { align1 WE_all 1N };
smov(8) g[a0]<1>UD g2<8,8,1>UD 0x0003UW { align1 1Q };
; fault: outside of the registers
---
; # Align16 components have 32 bits: one double of two in the mask and in the swizzles (IGC, `Common_BinaryEncoding.cpp`).
; set g2 DF: 1.0 2.0 3.0 4.0
; set g4 DF: 10.0 20.0 30.0 40.0
; set g6 DF: 0.0*4
; set g8 DF: 0.0*4
mad(2) g6<1>.xyDF g2<4,4,1>.xyxyDF g2<4,4,1>.zwzwDF -g4.2<4,4,1>.zwzwDF { align16 WE_all 1N };
mad(2) g8<1>.zwDF g2<4,4,1>.zwzwDF g2<4,4,1>.xyxyDF g4<4,4,1>.xyxyDF { align16 WE_all 1N };
mad(4) g10<1>DF g2<4,4,1>DF g2<4,4,1>.zwxyDF g4<4,4,1>DF { align16 1N };
; is g6 DF: -79.0 0.0 0.0 0.0
; is g8 DF: 0.0 12.0 0.0 0.0
; is g10 DF: 21.0 22.0 123.0 124.0
