; # Division by the IEEE macro: Intel's sequence for F. Quotients that over- and underflow on the way, denormals.
; set g2 F: 1.0 -7.0 3e38 1e-38 1.0 #00000003 16777213.0 2.0
; set g4 F: 3.0 10.0 1e-38 1e30 #00000001 7.0 16777215.0 3e38
; set g30 F: 0.0*8
; set g32 F: 1.0*8
math invm(8) g10<1>.noneF g2<4>.xzxxF g4<4>.xzxxF { align16 1Q };
madm(8) g12<1>.xF g30<4>.xzxxF g2<4>.xzxxF g10<4>.xxxxF { align16 1Q };
madm(8) g14<1>.yF g32<4>.xzxxF -g4<4>.xzxxF g10<4>.xxxxF { align16 1Q };
madm(8) g18<1>.xyF g10<4>.xxxxF g14<4>.zxxxF g10<4>.xxxxF { align16 1Q };
madm(8) g16<1>.zF g2<4>.xzxxF -g4<4>.xzxxF g12<4>.yxxxF { align16 1Q };
madm(8) g20<1>.xzF g12<4>.yxxxF g16<4>.xyxxF g18<4>.wxxxF { align16 1Q };
madm(8) g22<1>.yzF g2<4>.xzxxF -g4<4>.xzxxF g20<4>.yyxxF { align16 1Q };
madm(8) g24<1>.wF g20<4>.yyxxF g22<4>.zyxxF g18<4>.wxxxF { align16 1Q };
; is f0 UD: 0
; is g24 F: #3eaaaaab #bf333333 inf 0.0 inf #00000000 #3f7ffffe #004897f4
---
; # Where no iteration is needed the macro gives the quotient at once and sets the flag.
; simd 8
; mask 0xfe
; set f0 UD: 0xff00
; set g2 F: 0.0 1.0 -1.0 0.0 inf inf nan 5.0
; set g4 F: 1.0 0.0 0.0 0.0 inf 2.0 1.0 3.0
; set g10 F: 9.0*8
math invm(8) g10<1>.noneF g2<4>.xzxxF g4<4>.xzxxF { align16 1Q };
; is g10 F: 9.0 inf -inf nan nan inf nan
; is f0 UD: 0xff7e
---
; # Square roots of DF by the macro; the largest, the smallest denormal.
; set g2 DF: 2.0 1.7976931348623157e308 5e-324 0.01
; set g30 DF: 0.5*4
; set g32 DF: 1.5*4
; set g34 DF: 0.0*4
; set g36 DF: 1.0*4
math rsqrtm(4) g10<1>.noneDF g2<4>.xzxxDF null<4>.xzxxDF { align16 1N };
madm(4) g12<1>.xDF g34<4>.xzxxDF g30<4>.xzxxDF g10<4>.xxxxDF { align16 1N };
madm(4) g14<1>.yDF g34<4>.xzxxDF g2<4>.xzxxDF g10<4>.xxxxDF { align16 1N };
madm(4) g16<1>.xyDF g30<4>.xzxxDF -g14<4>.zxxxDF g12<4>.yxxxDF { align16 1N };
madm(4) g18<1>.xzDF g36<4>.xzxxDF g32<4>.xzxxDF g16<4>.wxxxDF { align16 1N };
madm(4) g20<1>.yzDF g34<4>.xzxxDF g16<4>.wxxxDF g14<4>.zxxxDF { align16 1N };
madm(4) g22<1>.xyzDF g34<4>.xzxxDF g16<4>.wxxxDF g12<4>.yxxxDF { align16 1N };
madm(4) g20<1>.yzDF g14<4>.zxxxDF g18<4>.yyxxDF g20<4>.zyxxDF { align16 1N };
madm(4) g18<1>.xzDF g12<4>.yxxxDF g18<4>.yyxxDF g22<4>.wyxxDF { align16 1N };
madm(4) g12<1>.xDF g2<4>.xzxxDF -g20<4>.zyxxDF g20<4>.zyxxDF { align16 1N };
madm(4) g24<1>.wDF g20<4>.zyxxDF g12<4>.yxxxDF g18<4>.yyxxDF { align16 1N };
; is f0 UD: 0
; is g24 DF: 1.4142135623730951 1.3407807929942596e154 2.2227587494850775e-162 0.1
---
; # The square root of zero, infinity and of what has none.
; set g2 DF: -0.0 inf -1.0 nan
math rsqrtm(4) g10<1>.noneDF g2<4>.xzxxDF null<4>.xzxxDF { align16 1N };
; is f0 UD: 0xf
; is g10 DF: -0.0 inf
