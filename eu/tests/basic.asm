; set g2 D: 1 -2 3 -4 5 -6 7 -8
; set g3 D: 10*8
add(8) g10<1>D g2<8,8,1>D g3<8,8,1>D { align1 1Q };
; is g10 D: 11 8 13 6 15 4 17 2
---
; set g2 F: 1.5 -2.5 0.0 -0.0 inf nan 3e38 #00011170
; set g3 F: 2.0*8
mul(8) g10<1>F g2<8,8,1>F g3<8,8,1>F { align1 1Q };
; is g10 F: 3.0 -5.0 0.0 -0.0 inf nan inf #000222e0
---
; # Denormals are zeros when cr0 does not keep them.
; cr0 0
; set g2 F: 1e-40 -1e-40 1.0 2.0 1e-30 0.0*3
; set g3 F: 1.0 1.0 1.0 1.0 1e-10 0.0*3
mul(8) g10<1>F g2<8,8,1>F g3<8,8,1>F { align1 1Q };
; is g10 F: 0.0 -0.0 1.0 2.0 0.0 0.0*3
---
; # Round up
; cr0 0x4d0
; set g2 F: 1.0 -1.0 1.0 -1.0 0.0*4
; set g3 F: 1e-20 1e-20 -1e-20 -1e-20 0.0*4
add(8) g10<1>F g2<8,8,1>F g3<8,8,1>F { align1 1Q };
; is g10 F: 1.0000001 -0.99999994 1.0 -1.0 0.0*4
---
; # Only enabled channels are written.
; simd 8
; mask 0x0f
; set g10 UD: 7*8
mov(8) g10<1>UD 1D { align1 1Q };
; is g10 UD: 1 1 1 1 7 7 7 7
---
; # WE_all ignores the mask.
; simd 8
; mask 0x0f
; set g10 UD: 7*8
mov(8) g10<1>UD 1D { align1 WE_all 1Q };
; is g10 UD: 1*8
---
; # Strict mode: never written.
add(8) g10<1>D g2<8,8,1>D g3<8,8,1>D { align1 1Q };
; fault: g2 is read but has never been written
---
; # Copying it is no use of it; what uses the copy is.
mov(8) g10<1>F g2<8,8,1>F { align1 1Q };
add(8) g11<1>D g10<8,8,1>D 1D { align1 1Q };
; fault: g10 is read but has never been written
---
; # A comparison of integers with themselves does not depend on them, one of floats does.
; simd 8
; mask 0x0f
cmp.z.f0.0(8) null<1>UW g2<0,1,0>UW g2<0,1,0>UW { align1 1Q };
; is f0 UD: 0x0f
---
cmp.z.f0.0(8) null<1>F g2<0,1,0>F g2<0,1,0>F { align1 1Q };
; fault: g2 is read but has never been written
---
; # Comparison, predicated move, selection.
; set g2 D: 1 -2 3 -4 5 -6 7 -8
; set g10 D: 0*8
cmp.l.f0.0(8) g11<1>D g2<8,8,1>D 0D { align1 1Q };
(+f0.0) mov(8) g10<1>D 1D { align1 1Q };
(-f0.0) sel(8) g12<1>D g2<8,8,1>D 9D { align1 1Q };
; is g10 D: 0 1 0 1 0 1 0 1
; is g11 D: 0 -1 0 -1 0 -1 0 -1
; is g12 D: 1 9 3 9 5 9 7 9
; is f0 UD: 0xaa
---
; # IEEE minimum and maximum: a number wins over NaN.
; set g2 F: 1.0 nan 3.0 -inf 5.0 nan -0.0 1.0
; set g3 F: 2.0 2.0 nan 4.0 -5.0 nan 0.0 1.0
sel.l(8) g10<1>F g2<8,8,1>F g3<8,8,1>F { align1 1Q };
sel.ge(8) g11<1>F g2<8,8,1>F g3<8,8,1>F { align1 1Q };
; is g10 F: 1.0 2.0 3.0 -inf -5.0 nan 0.0 1.0
; is g11 F: 2.0 2.0 3.0 4.0 5.0 nan -0.0 1.0
---
; # A64 scattered store of lane ids, untyped read back.
; set g20 UQ: 0x10000 0x10004 0x10008 0x1000c
; set g21 UQ: 0x10010 0x10014 0x10018 0x1001c
; set g22 D: 5 6 7 8 9 10 11 12
send(8) null<1>UW g20<8,8,1>UD 0x06066eff dp data 1 MsgDesc: mlen 3 rlen 0 { align1 1Q };
send(8) g30<1>UW g20<8,8,1>UD 0x04146eff dp data 1 MsgDesc: mlen 2 rlen 1 { align1 1Q };
; is g30 D: 5 6 7 8 9 10 11 12
; is 10000 D: 5 6 7 8 9 10 11 12
