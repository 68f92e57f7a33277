# The bytes of the demo model, aligned as a mapped file would be.
    .section .rodata
    .global tandem_embedded_model_begin
    .global tandem_embedded_model_end
    .balign 4096
tandem_embedded_model_begin:
    .incbin TANDEM_EMBEDDED_MODEL
tandem_embedded_model_end:
    .byte 0
    .section .note.GNU-stack,"",%progbits
