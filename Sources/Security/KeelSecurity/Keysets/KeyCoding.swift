#if Crypto
internal import Crypto
internal import KeelCore

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// The type and value of a key in Tink's messages.
///
/// Properties that Tink does not have are stored in a field with an unused number, which its readers skip.
enum KeyCoding {
    static let address = "type.googleapis.com/google.crypto.tink."
    private static let extraField = 16_005

    static func typeURL(of algorithm: KeyAlgorithm) -> String {
        switch algorithm.cipher {
        case .aesGCM: address + "AesGcmKey"
        case .aesGCMSIV: address + "AesGcmSivKey"
        case .chaCha20Poly1305: address + "ChaCha20Poly1305Key"
        case .streaming: address + "AesGcmHkdfStreamingKey"
        case .hybrid(_, isPrivate: true): address + "HpkePrivateKey"
        case .hybrid(_, isPrivate: false): address + "HpkePublicKey"
        }
    }

    static func materialType(of algorithm: KeyAlgorithm) -> (number: UInt64, name: String) {
        switch algorithm.purpose {
        case .values, .streams: (1, "SYMMETRIC")
        case .hybridDecryption: (2, "ASYMMETRIC_PRIVATE")
        case .hybridEncryption: (3, "ASYMMETRIC_PUBLIC")
        }
    }

    /// Returns the message of a key.
    ///
    /// A destroyed key is written with zeros, to hold its dates and to give readers that check every key the expected
    /// length.
    static func value(of key: KeysetKey) -> [UInt8] {
        var writer = ProtobufWriter()
        if case .streaming(let segment, let derivedKey) = key.algorithm.cipher {
            writer.message(2) { parameters in
                parameters.varint(1, UInt64(segment))
                parameters.varint(2, UInt64(derivedKey))
                parameters.varint(3, 3)
            }
        }
        if case .hybrid(let cipher, let isPrivate) = key.algorithm.cipher {
            hybrid(key, cipher, isPrivate: isPrivate, to: &writer)
            extra(of: key, to: &writer)
            return writer.bytes
        }
        let field = key.algorithm.cipher == .chaCha20Poly1305 ? 2 : 3
        if let material = key.material {
            material.withUnsafeBytes { writer.data(field, $0) }
        } else {
            writer.data(field, [UInt8](repeating: 0, count: key.algorithm.keyByteCount))
        }
        extra(of: key, to: &writer)
        return writer.bytes
    }

    private static func extra(of key: KeysetKey, to writer: inout ProtobufWriter) {
        writer.message(extraField) { extra in
            extra.varint(1, seconds(key.dates.created))
            extra.varint(2, seconds(key.dates.notBefore))
            extra.varint(3, seconds(key.dates.expires))
            extra.varint(4, seconds(key.dates.destroyAfter))
            extra.varint(5, key.usage)
            key.fingerprint?.withUnsafeBytes { extra.data(6, $0) }
        }
    }

    static func key(
        id: UInt32,
        typeURL: String,
        value: ArraySlice<UInt8>,
        status: KeysetKey.Status,
        prefix: KeysetKey.Prefix
    ) throws(SecurityError) -> KeysetKey {
        guard typeURL.hasPrefix(address) else { throw unsupported(id, typeURL) }
        let name = typeURL.dropFirst(address.count)
        let fields = try Fields(reading: value, keyField: name == "ChaCha20Poly1305Key" ? 2 : 3)
        guard fields.version == 0 else {
            throw SecurityError(.unsupportedKey, "key \(id) has an unknown version")
        }
        let cipher: KeyAlgorithm.Cipher
        switch name {
        case "AesGcmKey": cipher = .aesGCM
        case "AesGcmSivKey": cipher = .aesGCMSIV
        case "ChaCha20Poly1305Key": cipher = .chaCha20Poly1305
        case "AesGcmHkdfStreamingKey": cipher = try streaming(fields, id)
        case "HpkePrivateKey", "HpkePublicKey":
            let isPrivate = name == "HpkePrivateKey"
            cipher = .hybrid(
                try hybridCipher(
                    of: value,
                    id,
                    isPrivate: isPrivate,
                    isDestroyed: status == .destroyed
                ),
                isPrivate: isPrivate
            )
        default: throw unsupported(id, typeURL)
        }
        let count = fields.material?.count ?? (status == .destroyed ? 32 : 0)
        guard isLength(count, of: cipher) else {
            throw SecurityError(.invalidKey, "key \(id) has a length that its type does not allow")
        }
        return KeysetKey(
            id: id,
            algorithm: KeyAlgorithm(cipher: cipher, keyByteCount: count),
            prefix: prefix,
            status: status,
            dates: fields.dates,
            usage: fields.usage,
            material: status == .destroyed ? nil : fields.material.map { SymmetricKey(data: $0) },
            fingerprint: fields.fingerprint
        )
    }

    private static func isLength(_ count: Int, of cipher: KeyAlgorithm.Cipher) -> Bool {
        switch cipher {
        case .aesGCM, .aesGCMSIV: count == 16 || count == 32
        case .chaCha20Poly1305, .hybrid: count == 32
        case .streaming(_, let derivedKey): count >= max(16, derivedKey) && count <= 64
        }
    }

    private static func streaming(
        _ fields: Fields,
        _ id: UInt32
    ) throws(SecurityError) -> KeyAlgorithm.Cipher {
        guard fields.hash == 3 else {
            throw SecurityError(
                .unsupportedKey,
                "key \(id) uses a hash other than SHA-256 for derivation"
            )
        }
        let smallest = UInt64(fields.derivedKey + 8 + 16)
        guard fields.derivedKey == 16 || fields.derivedKey == 32, fields.segment > smallest,
            fields.segment <= 1 << 30
        else { throw SecurityError(.invalidKey, "key \(id) has parameters that are out of bounds") }
        return .streaming(segment: Int(fields.segment), derivedKey: Int(fields.derivedKey))
    }

    private static func unsupported(_ id: UInt32, _ typeURL: String) -> SecurityError {
        // The address is not secret, but it is untrusted text.
        SecurityError(.unsupportedKey, "key \(id) has the unknown type \(typeURL.prefix(80))")
    }

    private static func seconds(_ date: Date?) -> UInt64 {
        // Zero means no date, so an earlier date is written as the first second.
        guard let date else { return 0 }
        return UInt64(max(1, min(date.timeIntervalSince1970, 1e15)))
    }

    private struct Fields {
        var version: UInt64 = 0
        var material: ArraySlice<UInt8>?
        var segment: UInt64 = 0
        var derivedKey: UInt64 = 0
        var hash: UInt64 = 0
        var dates = KeyDates()
        var usage: UInt64 = 0
        var fingerprint: SymmetricKey?

        init(reading bytes: ArraySlice<UInt8>, keyField: Int) throws(SecurityError) {
            var reader = ProtobufReader(bytes)
            var isDamaged = false
            while let (field, value) = reader.next() {
                switch (field, value) {
                case (1, .varint(let number)): version = number
                case (keyField, .data(let data)): material = data
                case (2, .data(let data)): isDamaged = !readParameters(data) || isDamaged
                case (KeyCoding.extraField, .data(let data)):
                    isDamaged = !readExtra(data) || isDamaged
                default: break
                }
            }
            guard !isDamaged, !reader.isDamaged else {
                throw SecurityError(.invalidKey, "a key of the keyset is damaged")
            }
        }

        private mutating func readParameters(_ bytes: ArraySlice<UInt8>) -> Bool {
            var reader = ProtobufReader(bytes)
            while let (field, value) = reader.next() {
                guard case .varint(let number) = value, number <= UInt64(Int32.max) else {
                    continue
                }
                switch field {
                case 1: segment = number
                case 2: derivedKey = number
                case 3: hash = number
                default: break
                }
            }
            return !reader.isDamaged
        }

        private mutating func readExtra(_ bytes: ArraySlice<UInt8>) -> Bool {
            var reader = ProtobufReader(bytes)
            while let (field, value) = reader.next() {
                switch (field, value) {
                case (1, .varint(let number)): dates.created = Self.date(number)
                case (2, .varint(let number)): dates.notBefore = Self.date(number)
                case (3, .varint(let number)): dates.expires = Self.date(number)
                case (4, .varint(let number)): dates.destroyAfter = Self.date(number)
                case (5, .varint(let number)): usage = number
                case (6, .data(let data)) where data.count == 32:
                    fingerprint = SymmetricKey(data: data)
                default: break
                }
            }
            return !reader.isDamaged
        }

        private static func date(_ seconds: UInt64) -> Date {
            Date(timeIntervalSince1970: Double(seconds))
        }
    }
}
#endif
