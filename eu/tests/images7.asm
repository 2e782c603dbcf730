; # ivb: a typed write, read back by ld (U, level, V); outside nothing is written, and 0 is read.
; device ivb
; simd 8
; surface 1: 2D R8G8B8A8_UINT 4x2 pitch 16 at 10000
; set g19 UD: 0 0 0 0 0 0 0 0xffff
; set g20 UD: 0 1 2 3 0 3 4 0xffffffff
; set g21 UD: 0 0 0 0 1 1 0 0
; set g22 UD: 1 2 3 4 5 6 7 8
; set g23 UD: 16*8
; set g24 UD: 32 33 34 35 36 37 38 39
; set g25 UD: 255 256 0xffffffff 0 1 2 3 4
; set g40 UD: 0 1 2 3 0 3 4 0xffffffff
; set g41 UD: 0*8
; set g42 UD: 0 0 0 0 1 1 0 0
; set 10000 UD: 9*12
send(8) null<1>UD g19<8,8,1>UD 0x0e0b4001 render MsgDesc: mlen 7 rlen 0 header { align1 1Q };
send(8) g30<1>UD g40<8,8,1>UD 0x06427001 sampler MsgDesc: mlen 3 rlen 4 { align1 1Q };
; is 10000 UD: 0xff201001 0xff211002 0xff221003 0x00231004 0x01241005 9 9 0x02251006 9 9 9 9
; is g30 UD: 1 2 3 4 5 6 0 0
; is g31 UD: 16*6 0 0
; is g33 UD: 255 255 255 0 1 2 0 0
---
; # hsw: a typed write, read back by ld (U, level, V); outside nothing is written, and 0 is read.
; device hsw
; simd 8
; surface 1: 2D R8G8B8A8_UINT 4x2 pitch 16 at 10000
; set g19 UD: 0 0 0 0 0 0 0 0xffff
; set g20 UD: 0 1 2 3 0 3 4 0xffffffff
; set g21 UD: 0 0 0 0 1 1 0 0
; set g22 UD: 1 2 3 4 5 6 7 8
; set g23 UD: 16*8
; set g24 UD: 32 33 34 35 36 37 38 39
; set g25 UD: 255 256 0xffffffff 0 1 2 3 4
; set g40 UD: 0 1 2 3 0 3 4 0xffffffff
; set g41 UD: 0*8
; set g42 UD: 0 0 0 0 1 1 0 0
; set 10000 UD: 9*12
send(8) null<1>UD g19<8,8,1>UD 0x0e0b5001 dp data 1 MsgDesc: mlen 7 rlen 0 header { align1 1Q };
send(8) g30<1>UD g40<8,8,1>UD 0x06427001 sampler MsgDesc: mlen 3 rlen 4 { align1 1Q };
; is 10000 UD: 0xff201001 0xff211002 0xff221003 0x00231004 0x01241005 9 9 0x02251006 9 9 9 9
; is g30 UD: 1 2 3 4 5 6 0 0
; is g31 UD: 16*6 0 0
; is g33 UD: 255 255 255 0 1 2 0 0
---
; # ivb: the high half of the sample mask.
; device ivb
; simd 8
; surface 1: 1D R32_UINT 8 pitch 32 at 10000
; set g19 UD: 0 0 0 0 0 0 0 0x0f00
; set g20 UD: 0 1 2 3 4 5 6 7
; set g21 UD: 1 2 3 4 5 6 7 8
; set g22 UD: 0*24
; set 10000 UD: 99*8
send(8) null<1>UD g19<8,8,1>UD 0x0c0b6001 render MsgDesc: mlen 6 rlen 0 header { align1 1Q };
; is 10000 UD: 1 2 3 4 99 99 99 99
---
; # hsw: the high half of the sample mask.
; device hsw
; simd 8
; surface 1: 1D R32_UINT 8 pitch 32 at 10000
; set g19 UD: 0 0 0 0 0 0 0 0x0f00
; set g20 UD: 0 1 2 3 4 5 6 7
; set g21 UD: 1 2 3 4 5 6 7 8
; set g22 UD: 0*24
; set 10000 UD: 99*8
send(8) null<1>UD g19<8,8,1>UD 0x0c0b6001 dp data 1 MsgDesc: mlen 6 rlen 0 header { align1 1Q };
; is 10000 UD: 1 2 3 4 99 99 99 99
---
; # Typed reads and atomic operations of one channel of 32 bits.
; device ivb
; simd 8
; surface 1: 2D R32_UINT 4x2 pitch 16 at 10000
; set g19 UD: 0 0 0 0 0 0 0 0xffff
; set g20 UD: 0 0 1 1 2 3 0 9
; set g21 UD: 0 0 0 0 1 1 0 0
; set g22 UD: 1 2 3 4 5 6 7 8
; set 10000 UD: 100*8
send(8) g30<1>UD g19<8,8,1>UD 0x0819a701 render MsgDesc: mlen 4 rlen 1 header { align1 1Q };
send(8) g31<1>UD g19<8,8,1>UD 0x06194e01 render MsgDesc: mlen 3 rlen 1 header { align1 1Q };
; is 10000 UD: 110 107 100 100 100 100 105 106
; is g30 UD: 100 101 100 103 100 100 103 0
; is g31 UD: 110 110 107 107 105 106 110 0
---
; # Ivy Bridge reads no other formats.
; device ivb
; simd 8
; surface 1: 1D R8G8B8A8_UINT 4 pitch 16 at 10000
; set g19 UD: 0 0 0 0 0 0 0 0xffff
; set g20 UD: 0*8
send(8) g30<1>UD g19<8,8,1>UD 0x04494001 render MsgDesc: mlen 2 rlen 4 header { align1 1Q };
; fault: a typed read of format R8G8B8A8_UINT
---
; # Haswell reads unsigned integers of 8 and 16 bits.
; device hsw
; simd 8
; surface 1: 1D R8G8B8A8_UINT 8 pitch 32 at 10000
; set g19 UD: 0 0 0 0 0 0 0 0xffff
; set g20 UD: 0 1 2 3 4 5 6 7
; set 10000 UB: 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 32
send(8) g30<1>UD g19<8,8,1>UD 0x04495001 dp data 1 MsgDesc: mlen 2 rlen 4 header { align1 1Q };
; is g30 UD: 1 5 9 13 17 21 25 29
; is g33 UD: 4 8 12 16 20 24 28 32
---
; # And no signed ones.
; device hsw
; simd 8
; surface 1: 1D R8G8B8A8_SINT 8 pitch 32 at 10000
; set g19 UD: 0 0 0 0 0 0 0 0xffff
; set g20 UD: 0*8
send(8) g30<1>UD g19<8,8,1>UD 0x04495001 dp data 1 MsgDesc: mlen 2 rlen 4 header { align1 1Q };
; fault: a typed read of format R8G8B8A8_SINT
---
; # ivb: typed messages need a header.
; device ivb
; simd 8
; surface 1: 1D R32_UINT 8 pitch 32 at 10000
; set g20 UD: 0*8
send(8) g30<1>UD g20<8,8,1>UD 0x02414001 render MsgDesc: mlen 1 rlen 4 { align1 1Q };
; fault: a typed message without a header
---
; # hsw: typed messages need a header.
; device hsw
; simd 8
; surface 1: 1D R32_UINT 8 pitch 32 at 10000
; set g20 UD: 0*8
send(8) g30<1>UD g20<8,8,1>UD 0x02415001 dp data 1 MsgDesc: mlen 1 rlen 4 { align1 1Q };
; fault: a typed message without a header
---
; # Y and X tiling.
; device ivb
; simd 8
; surface 1: 2D R32_UINT 64x64 pitch 256 tiled Y at 10000
; surface 2: 2D R32_UINT 256x16 pitch 1024 tiled X at 14000
; set g19 UD: 0 0 0 0 0 0 0 0xffff
; set g20 UD: 0 3 4 31 32 0 33 63
; set g21 UD: 0 0 0 31 0 32 33 63
; set g22 UD: 1 2 3 4 5 6 7 8
; set g23 UD: 0*24
; set g29 UD: 0 0 0 0 0 0 0 0xffff
; set g30 UD: 0 127 0 127 128 0 129 255
; set g31 UD: 0 0 1 7 0 8 9 15
; set g32 UD: 1 2 3 4 5 6 7 8
; set g33 UD: 0*24
send(8) null<1>UD g19<8,8,1>UD 0x0e0b4001 render MsgDesc: mlen 7 rlen 0 header { align1 1Q };
send(8) null<1>UD g29<8,8,1>UD 0x0e0b4002 render MsgDesc: mlen 7 rlen 0 header { align1 1Q };
; is 10000 UD: 1
; is 10200 UD: 3
; is 10ffc UD: 4
; is 11000 UD: 5
; is 12000 UD: 6
; is 13ffc UD: 8
; is 14000 UD: 1
; is 141fc UD: 2
; is 14200 UD: 3
; is 14ffc UD: 4
; is 15000 UD: 5
; is 17ffc UD: 8
---
; # The distance of slices follows from the size: that of the first level, or of all levels: 4 + 4 + 12 * 4 rows.
; device ivb
; simd 8
; surface 1: 2D R32_UINT 2x3x2 array pitch 8 at 10000
; surface 2: 2D R32_UINT 2x3x2 array levels 2 pitch 8 at 10100
; set g20 UD: 0 1 0 1 0 2 0 0
; set g21 UD: 0*8
; set g22 UD: 0 2 0 2 3 0 0 1
; set g23 UD: 0 0 1 1 0 0 2 1
; set g30 UD: 0 1 0 0 0 0 0 0
; set g31 UD: 0 0 0 1 1 2 0 0
; set g32 UD: 0 2 0 0 0 0 0 0
; set g33 UD: 0 0 1 0 1 0 1 1
; set 10000 UD: 1 0 0 0 0 2 0 0 3 0 5 0 0 4
; set 10100 UD: 1 0 0 0 0 2 0 0 4
; set 102c0 UD: 3 0 0 0 0 0 0 0 5
send(8) g40<1>UD g20<8,8,1>UD 0x08127001 sampler MsgDesc: mlen 4 rlen 1 { align1 1Q };
send(8) g41<1>UD g30<8,8,1>UD 0x08127002 sampler MsgDesc: mlen 4 rlen 1 { align1 1Q };
; is g40 UD: 1 2 3 4 0 0 0 5
; is g41 UD: 1 2 3 4 5 0 3 3
---
; # Layers of one-dimensional arrays are at the alignment of rows.
; device ivb
; simd 8
; surface 1: 1D R32_UINT 4x1x3 array pitch 16 at 10000
; set g19 UD: 0 0 0 0 0 0 0 0xffff
; set g20 UD: 0 3 0 3 0 3 4 0
; set g21 UD: 0 0 1 1 2 2 0 3
; set g22 UD: 1 2 3 4 5 6 7 8
; set g23 UD: 0*24
send(8) null<1>UD g19<8,8,1>UD 0x0e0b4001 render MsgDesc: mlen 7 rlen 0 header { align1 1Q };
; is 10000 UD: 1 0 0 2 0 0 0 0 0 0 0 0 0 0 0 0 3 0 0 4
; is 10080 UD: 5 0 0 6
---
; # Planes of three dimensions follow one another; sample_l with level 0, U, V, R.
; device ivb
; simd 8
; surface 1: 3D R32_UINT 4x3x2 pitch 16 at 10000
; sampler 0: nearest clamp texels
; set g20 UD: 0*8
; set g21 F: 0.5 3.5 0.5 3.5 9 -1 0 0
; set g22 F: 0 2 0 2 0 0 0 0
; set g23 F: 0 0 1 1 0 0 7 0
; set 10000 UD: 1 0 0 7 0 0 0 0 0 0 0 2 0 0 0 0 3 0 0 0 0 0 0 0 0 0 0 4
send(8) g30<1>UD g20<8,8,1>UD 0x08122001 sampler MsgDesc: mlen 4 rlen 1 { align1 1Q };
; is g30 UD: 1 2 3 4 7 1 3 1
---
; # Shader channels: Ivy Bridge has none.
; device ivb
; simd 8
; surface 1: 1D R8G8_UINT 4 pitch 8 select 1gr0 at 10000
; set 10000 UB: 1 2 3 4 5 6 7 8
; set g20 UD: 0 1 2 3 0 0 0 0
send(8) g30<1>UD g20<8,8,1>UD 0x02427001 sampler MsgDesc: mlen 1 rlen 4 { align1 1Q };
; is g30 UD: 1 3 5 7
; is g31 UD: 2 4 6 8
; is g32 UD: 0*8 1*8
---
; device hsw
; simd 8
; surface 1: 1D R8G8_UINT 4 pitch 8 select 1gr0 at 10000
; set 10000 UB: 1 2 3 4 5 6 7 8
; set g20 UD: 0 1 2 3 0 0 0 0
send(8) g30<1>UD g20<8,8,1>UD 0x02427001 sampler MsgDesc: mlen 1 rlen 4 { align1 1Q };
; is g30 UD: 1*8 2 4 6 8
; is g32 UD: 1 3 5 7
; is g33 UD: 0*8
---
; # The border colour is at an offset from the dynamic state, and of floats.
; device ivb
; simd 8
; surface 1: 1D R32_FLOAT 4 pitch 16 at 10000
; sampler 1: nearest border texels border_colour bf800000 0 0 0
; set 10000 F: 10 11 12 13
; set g20 F: -1 -0.25 0 0.99 3.99 4 100 1
send(8) g30<1>UD g20<8,8,1>UD 0x02120101 sampler MsgDesc: mlen 1 rlen 1 { align1 1Q };
; is g30 F: -1 -1 10 10 13 -1 -1 11
---
; device ivb
; simd 8
; surface 1: 1D R32_UINT 4 pitch 16 at 10000
; sampler 1: nearest border texels
; set g20 F: -1 -0.25 0 0.99 3.99 4 100 1
send(8) g30<1>UD g20<8,8,1>UD 0x02120101 sampler MsgDesc: mlen 1 rlen 1 { align1 1Q };
; fault: the border colour of integer format R32_UINT
---
; # Haswell's border colours of integers are packed as channels are; green of two wide ones is where blue is.
; device hsw
; simd 8
; surface 1: 1D R8G8_SINT 4 pitch 8 integers at 10000
; surface 2: 1D R16G16_UINT 4 pitch 16 integers at 10000
; surface 3: 1D R32G32_UINT 4 pitch 32 integers at 10000
; surface 4: 1D R32G32B32A32_UINT 4 pitch 64 integers at 10000
; sampler 0: nearest border integer_border 4080ff1 20003 30005 7
; set g20 F: -1*8
send(8) g30<1>UD g20<8,8,1>UD 0x02420001 sampler MsgDesc: mlen 1 rlen 4 { align1 1Q };
send(8) g40<1>UD g20<8,8,1>UD 0x02420002 sampler MsgDesc: mlen 1 rlen 4 { align1 1Q };
send(8) g50<1>UD g20<8,8,1>UD 0x02420003 sampler MsgDesc: mlen 1 rlen 4 { align1 1Q };
send(8) g60<1>UD g20<8,8,1>UD 0x02420004 sampler MsgDesc: mlen 1 rlen 4 { align1 1Q };
; is g30 D: -15*8 15*8 0*8 1*8
; is g40 UD: 0x0ff1*8 0x0408*8 0*8 1*8
; is g50 UD: 0x04080ff1*8 0x30005*8 0*8 1*8
; is g60 UD: 0x04080ff1*8 0x20003*8 0x30005*8 7*8
---
; # The surface must say that they are integers.
; device hsw
; simd 8
; surface 1: 1D R32_UINT 4 pitch 16 at 10000
; sampler 0: nearest border
; set g20 F: -1*8
send(8) g30<1>UD g20<8,8,1>UD 0x02420001 sampler MsgDesc: mlen 1 rlen 4 { align1 1Q };
; fault: the border colour of integers without Integer Surface Format
---
; # There is no sample_lz.
; device hsw
; simd 8
; surface 1: 1D R8_UNORM 4 pitch 4 at 10000
; sampler 0: nearest clamp
; set g20 F: 0*8
send(8) g30<1>UD g20<8,8,1>UD 0x02438001 sampler MsgDesc: mlen 1 rlen 4 { align1 1Q };
; fault: LevelZero, which the generation does not have
---
; # Results have 32 bits, which bit 30 of later descriptors changes.
; device hsw
; simd 8
; lenient
; surface 1: 1D R8_UNORM 4 pitch 4 at 10000
; set g20 UD: 0*8
send(8) g30<1>UD g20<8,8,1>UD 0x42227001 sampler MsgDesc: mlen 1 rlen 2 { align1 1Q };
; fault: message to the sampler: type 0x7
