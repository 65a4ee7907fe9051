/// A search for the public key in a certificate, without any validation.
///
/// A certificate (RFC 5280 section 4.1) is DER (X.690): each element is a tag, a length and that many bytes.
enum CertificateKey {
    private static let sequence: UInt8 = 0x30
    private static let version: UInt8 = 0xA0

    /// Returns the bytes of the SubjectPublicKeyInfo with its tag and length, or nil for bytes that are not a
    /// certificate.
    static func info(in certificate: some Sequence<UInt8>) -> ArraySlice<UInt8>? {
        var bytes = Array(certificate)[...]
        guard var outer = element(&bytes, sequence)?.content,
            var fields = element(&outer, sequence)?.content
        else { return nil }
        if fields.first == version { guard element(&fields) != nil else { return nil } }
        // The serial number, the algorithm, the issuer, the validity and the subject.
        for _ in 0..<5 { guard element(&fields) != nil else { return nil } }
        return element(&fields, sequence)?.whole
    }

    private static func element(
        _ bytes: inout ArraySlice<UInt8>,
        _ tag: UInt8? = nil
    ) -> (whole: ArraySlice<UInt8>, content: ArraySlice<UInt8>)? {
        let whole = bytes
        guard let first = bytes.popFirst(), tag == nil || first == tag,
            let short = bytes.popFirst()
        else { return nil }
        var length = Int(short)
        if short >= 0x80 {
            // The number of bytes of the length; no certificate needs more than three.
            guard (0x81...0x83).contains(short) else { return nil }
            length = 0
            for _ in 0..<(short - 0x80) {
                guard let byte = bytes.popFirst() else { return nil }
                length = length << 8 | Int(byte)
            }
        }
        guard length <= bytes.count else { return nil }
        let content = bytes.prefix(length)
        bytes = bytes.dropFirst(length)
        return (whole[..<content.endIndex], content)
    }
}
