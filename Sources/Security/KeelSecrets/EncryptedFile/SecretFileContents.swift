#if Crypto
internal import KeelCBOR

/// The secrets of a file, encoded as deterministic CBOR.
struct SecretFileContents: Sendable {
    var secrets: [SecretName: [UInt8]] = [:]

    /// An array of `[service, account, bytes]`, sorted by name.
    var bytes: [UInt8] {
        var writer = CBORWriter()
        writer.arrayHeader(secrets.count)
        for name in secrets.keys.sorted() {
            writer.arrayHeader(3)
            writer.text(name.service)
            writer.text(name.account)
            writer.byteString(secrets[name] ?? [])
        }
        return writer.bytes
    }

    init() {}

    /// Decodes the output of ``bytes``.
    ///
    /// - Throws: ``SecretError`` with the code `damaged`.
    init(_ bytes: [UInt8]) throws(SecretError) {
        do throws(CBORError) {
            var reader = CBORReader(bytes)
            let count = try reader.readArrayHeader() ?? 0
            for _ in 0..<count {
                guard try reader.readArrayHeader() == 3 else {
                    throw CBORError(.malformed, at: reader.position)
                }
                let service = try reader.readText()
                let account = try reader.readText()
                secrets[SecretName(service: service, account: account)] =
                    try reader.readByteString()
            }
            try reader.finish()
        } catch {
            // The decoder's error is not the cause, because errors must not contain decrypted data.
            throw SecretError(.damaged, "The file's decrypted contents are not a list of secrets.")
        }
    }
}
#endif
