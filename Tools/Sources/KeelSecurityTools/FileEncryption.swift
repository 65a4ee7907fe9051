package import Foundation
package import KeelSecurity

/// Encrypts and decrypts whole files with a keyset, in bounded memory.
package struct FileEncryption: Sendable {
    package enum Direction: Sendable {
        case encrypt
        case decrypt
    }

    private let streams: StreamingEncryption
    private let associatedData: Data

    /// Creates a service for a keyset; throws `SecurityError` if its keys are not for streams.
    package init(keyset: Keyset, associatedData: Data) throws {
        streams = try StreamingEncryption(keyset: keyset)
        self.associatedData = associatedData
    }

    /// Creates a service for a ring, which applies the dates of its keys; throws `SecurityError` if they are not for
    /// streams.
    package init(keys: KeyRing, associatedData: Data) throws {
        streams = try StreamingEncryption(keys: keys)
        self.associatedData = associatedData
    }

    /// Encrypts or decrypts a file, and returns the number of bytes written; `progress` receives that of bytes read.
    ///
    /// - Throws: An error; no file is then written, but standard output may have received some pieces.
    @discardableResult
    package func run(
        _ direction: Direction,
        through pipe: FilePipe,
        progress: (Int) -> Void = { _ in }
    ) async throws -> Int {
        switch direction {
        case .encrypt:
            let encryptor = try streams.encryptor(associatedData: associatedData)
            return try await pipe.run(progress: progress) { piece in
                if let piece { return try encryptor.update(piece) }
                return try encryptor.finish()
            }
        case .decrypt:
            var decryptor = streams.decryptor(associatedData: associatedData)
            return try await pipe.run(progress: progress) { piece in
                if let piece { return try decryptor.update(piece) }
                return try decryptor.finish()
            }
        }
    }

    /// Re-encrypts a file, or the target of a link, in place with the primary key; `progress` receives the number of
    /// bytes read.
    ///
    /// - Throws: An error; the file is then unchanged.
    package func reencrypt(_ file: URL, progress: (Int) -> Void = { _ in }) async throws {
        var decryptor = streams.decryptor(associatedData: associatedData)
        let encryptor = try streams.encryptor(associatedData: associatedData)
        // A link is resolved, so that the file it leads to is re-encrypted.
        let file = FilePipe.End.file(file.resolvingSymlinksInPath())
        _ = try await FilePipe(from: file, to: file, replaces: true).run(progress: progress) {
            if let piece = $0 { return try encryptor.update(try decryptor.update(piece)) }
            return try encryptor.update(try decryptor.finish()) + encryptor.finish()
        }
    }
}
