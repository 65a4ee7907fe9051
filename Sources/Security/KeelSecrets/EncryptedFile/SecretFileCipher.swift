#if Crypto
internal import Crypto
internal import KeelArgon2
internal import KeelCore

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

enum SecretFileCipher {
    private static let keyInfo = Array("keel secret file 1 key".utf8)
    private static let checkInfo = Array("keel secret file 1 check".utf8)

    static func seal(
        _ contents: SecretFileContents,
        with key: SymmetricKey,
        of kind: SecretFileHeader.KeyKind
    ) throws(SecretError) -> [UInt8] {
        let salt = randomBytes(SecretFileHeader.saltByteCount)
        let header = SecretFileHeader(
            kind: kind,
            salt: salt,
            check: check(key, salt),
            nonce: randomBytes(SecretFileHeader.nonceByteCount)
        )
        do {
            let box = try AES.GCM.seal(
                contents.bytes,
                using: derived(key, salt, keyInfo, 32),
                nonce: AES.GCM.Nonce(data: header.nonce),
                authenticating: header.bytes
            )
            return header.bytes + box.ciphertext + box.tag
        } catch {
            throw SecretError(.saveFailed, "The file could not be sealed.", cause: error)
        }
    }

    /// Opens a file.
    ///
    /// - Throws: ``SecretError`` with the code `wrongKey` or `damaged`.
    static func open(
        _ file: [UInt8],
        with key: SymmetricKey
    ) throws(SecretError) -> SecretFileContents {
        let (header, byteCount) = try SecretFileHeader.read(file)
        // The check value is public, so the comparison need not take constant time.
        guard header.check == check(key, header.salt) else {
            throw SecretError(.wrongKey, "The file was sealed with a different key.")
        }
        let sealed = file.dropFirst(byteCount)
        let tagByteCount = 16
        guard sealed.count >= tagByteCount else {
            throw SecretError(.damaged, "The file is truncated.")
        }
        let plain: [UInt8]
        do {
            let box = try AES.GCM.SealedBox(
                nonce: AES.GCM.Nonce(data: header.nonce),
                ciphertext: sealed.dropLast(tagByteCount),
                tag: sealed.suffix(tagByteCount)
            )
            plain = Array(
                try AES.GCM.open(
                    box,
                    using: derived(key, header.salt, keyInfo, 32),
                    authenticating: header.bytes
                )
            )
        } catch {
            throw SecretError(.damaged, "The file was modified or truncated.", cause: error)
        }
        return try SecretFileContents(plain)
    }

    /// Derives a key from a passphrase; the cost must be sound.
    static func key(
        from passphrase: String,
        salt: [UInt8],
        cost: Argon2Cost
    ) -> SymmetricKey {
        var bytes = Argon2(cost: cost, count: KeyEncryptionKey.byteCount)
            .hash(Array(passphrase.utf8), salt: salt)
        defer { Zeroing.overwrite(&bytes) }
        return SymmetricKey(data: bytes)
    }

    static func randomBytes(_ count: Int) -> [UInt8] {
        var generator = SystemRandomNumberGenerator()
        return (0..<count).map { _ in UInt8.random(in: 0...255, using: &generator) }
    }

    /// Returns an identifier for a key that does not reveal the key.
    static func identifier(of bytes: [UInt8]) -> String {
        let info = Array("keel key identifier 1".utf8)
        let name = derived(SymmetricKey(data: bytes), [], info, 8)
        return name.withUnsafeBytes { Hexadecimal.text(of: $0) }
    }

    private static func check(_ key: SymmetricKey, _ salt: [UInt8]) -> [UInt8] {
        derived(key, salt, checkInfo, SecretFileHeader.checkByteCount).withUnsafeBytes { Array($0) }
    }

    private static func derived(
        _ key: SymmetricKey,
        _ salt: [UInt8],
        _ info: [UInt8],
        _ count: Int
    ) -> SymmetricKey {
        HKDF<SHA256>.deriveKey(
            inputKeyMaterial: key,
            salt: salt,
            info: info,
            outputByteCount: count
        )
    }
}
#endif
