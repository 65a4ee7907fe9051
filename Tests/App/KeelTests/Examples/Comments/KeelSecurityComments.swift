import Foundation
import HTTPTypes
import Keel
import KeelSecrets
import KeelSecurity
import KeelSecurityFiles
import KeelTestKit
import Testing

/// Examples from the comments of the modules of security; compiled but not run, see ``CommentExamples``.
extension CommentExamples {
    static func observedSecretStoreAdapter() async throws {
        let adapter = SecretServiceSecretStoreAdapter().observed { call in
            timer("secrets.\(call.operation)").record(call.duration)
        }
        _ = adapter
    }

    static func secretStoreKeySource(_ secrets: SecretStore, _ data: Data) async throws {
        let source = SecretStoreKeySource(secrets)
        let keyset = try await Keyset(encrypted: data, under: source)
        _ = source
        _ = keyset
    }
}

#if Crypto
// KeelSecurity
extension CommentExamples {
    static func hybridEncryption(_ report: Data) async throws {
        let owner = try Keyset.make(.hpkeX25519AES256GCM)
        let sealed = try HybridEncryption(publicKeyset: owner.publicKeyset()).encrypt(report)
        let opened = try HybridDecryption(keyset: owner).decrypt(sealed)
        _ = owner
        _ = sealed
        _ = opened
    }

    static func keyset(_ keyFile: KeyFileSource) async throws {
        var keyset = try Keyset.make(.aes256GCM)
        try keyset.rotate()
        let bytes = try await keyset.encrypted(under: keyFile)
        _ = keyset
        _ = bytes
    }

    static func keysetFile(_ folder: URL, _ secrets: SecretStore) async throws {
        let file = KeysetFile(
            at: folder.appending(path: "keys.json"),
            under: SecretStoreKeySource(secrets)
        )
        let security = SecurityService(keys: try await file.ring(creating: .aes256GCM))
        _ = file
        _ = security
    }

    static func passwordHasher(_ user: inout Person, _ password: String) async throws {
        let passwords = PasswordHasher()
        user.hash = try await passwords.hash(password)
        guard try await passwords.verify(password, against: user.hash) else { return }
        if passwords.needsRehash(user.hash) { user.hash = try await passwords.hash(password) }
        _ = passwords
    }

    static func sealedFileHeader(
        _ recipient: SealedFileRecipient,
        _ piece: Data,
        _ file: FileHandle
    ) async throws {
        let (header, encryptor) = try SealedFileHeader.sealing(for: [recipient])
        try file.write(contentsOf: header.bytes)
        try file.write(contentsOf: try encryptor.update(piece))
        try file.write(contentsOf: try encryptor.finish())
        _ = header
        _ = encryptor
    }

    static func securityService(_ note: Data) async throws {
        let security = SecurityService(keyset: try Keyset.make(.aes256GCM))
        let sealed = try security.encrypt(note, associatedData: Data("notes/1".utf8))
        let plain = try security.decrypt(sealed, associatedData: Data("notes/1".utf8))
        _ = security
        _ = sealed
        _ = plain
    }

    static func streamingEncryption(_ name: Data, _ piece: Data, _ file: FileHandle) async throws {
        let streams = try StreamingEncryption(keyset: try Keyset.make(.aes256GCMHKDF64KB))
        let encryptor = try streams.encryptor(associatedData: name)
        try file.write(contentsOf: try encryptor.update(piece))
        try file.write(contentsOf: try encryptor.finish())
        _ = streams
        _ = encryptor
    }
}
#endif

#if Crypto
// KeelSecurityFiles
extension CommentExamples {
    static func encryptedFileStoreAdapter(_ remote: InMemoryFileStoreAdapter) async throws {
        let key = try Keyset.make(.aes256GCMHKDF64KB)
        let adapter = try remote.encrypted(with: StreamingEncryption(keyset: key))
        let files = FileStore(adapter)
        _ = key
        _ = adapter
        _ = files
    }
}
#endif
