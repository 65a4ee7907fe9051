#if Crypto
internal import Foundation
internal import KeelCore
internal import Synchronization

/// One ring's view of a keyset file, which detects changes and changes the file under its lock.
final class KeysetFollower: Sendable {
    private struct State {
        var ciphers: KeysetCiphers
        /// The last file that was read, kept open so that its inode number is not reused.
        var seen: (any OpenFile)?
    }

    private let file: KeysetFile
    private let state: Mutex<State>

    init(_ file: KeysetFile, _ ciphers: KeysetCiphers, seen: any OpenFile) {
        self.file = file
        state = Mutex(State(ciphers: ciphers, seen: seen))
    }

    /// Whether the file is the one that was read last; costs one system call.
    var isCurrent: Bool { state.withLock(\.seen)?.isStill(at: file.path) ?? false }

    func read() throws(SecurityError) -> Keyset {
        guard let found = try file.current() else { throw file.missing }
        // Record the file even if it cannot be decrypted, so that not every message tries again.
        let ciphers = state.withLock { state in
            state.seen = found.file
            return state.ciphers
        }
        return try file.opened(found.content, ciphers).keyset
    }

    /// Returns a key's status according to the unencrypted description, for a file that cannot be decrypted.
    func status(of id: UInt32) -> KeysetKey.Status? {
        guard let content = try? file.current()?.content else { return nil }
        return EncryptedForm.status(of: id, in: content)
    }

    /// Changes the current keyset and writes it under its present key-encryption key.
    func change(
        _ body: (inout Keyset) throws(SecurityError) -> Void
    ) throws(SecurityError) -> Keyset {
        let ciphers = state.withLock(\.ciphers)
        return try file.locked { () throws(SecurityError) in
            var (keyset, cipher) = try latest(ciphers)
            try body(&keyset)
            try file.write(keyset, cipher)
            let written = try? file.current()?.file
            state.withLock { $0.seen = written }
            return keyset
        }
    }

    /// Returns a time that the clock has surely reached; nil while none is certain, or if the file cannot be locked.
    func certainTime(at now: Date) -> Date? {
        try? file.locked { () throws(SecurityError) in file.certainTime(at: now) }
    }

    func refresh() async throws(SecurityError) {
        let ciphers = try await file.ciphers()
        state.withLock { state in
            state.ciphers = ciphers
            state.seen = nil
        }
    }

    private func latest(
        _ ciphers: KeysetCiphers
    ) throws(SecurityError) -> (Keyset, KeysetCipher) {
        do throws(SecurityError) {
            guard let found = try file.current() else { throw file.missing }
            return try file.opened(found.content, ciphers)
        } catch {
            throw SecurityError(
                .keyStoreFailed,
                "the keyset can no longer be read: \(error.message)",
                cause: error
            )
        }
    }
}
#endif
