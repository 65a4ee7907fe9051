#if Crypto
internal import KeelFiles
internal import KeelSecurity
internal import Synchronization

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

extension EncryptedFileStoreAdapter {
    /// Returns the encrypted form of a content, which fails at its end if the plaintext differs from the announced
    /// length or checksum.
    func sealed(
        _ content: FileContent,
        _ path: FileStorePath,
        _ options: FileWriteOptions
    ) -> FileContent {
        let length = content.length.flatMap { streams.encryptedCount(of: $0) }
        return FileContent(length: length, isReplayable: content.isReplayable) {
            () async throws(FileStoreError) in
            let encryptor: StreamEncryptor
            do throws(SecurityError) {
                encryptor = try streams.encryptor(associatedData: associatedData(path))
            } catch {
                throw FileStoreError(
                    .writeFailed,
                    "“\(path)” could not be encrypted.",
                    cause: error
                )
            }
            guard streams.hasKnownSizes(encryptor) else {
                throw FileStoreError(
                    .writeFailed,
                    "“\(path)” was not written: the new primary key has a different segment size."
                )
            }
            let sealer = Sealer(encryptor, try FileHash(options.checksum?.algorithm ?? .crc32c))
            let reader = try await content.open()
            return FileReader { () async throws(FileStoreError) in
                try await sealer.next(from: reader) { hash, count throws(FileStoreError) in
                    try FileIntegrityCheck.check(count, hash.checksum, of: content, options, path)
                }
            }
        }
    }

    func whole(_ content: FileContent, _ path: FileStorePath, _ size: Int) -> FileContent {
        opened(content, path, size, by: streams.decryptor(associatedData: associatedData(path)))
    }

    func part(
        _ content: FileContent,
        _ path: FileStorePath,
        _ size: Int,
        _ decryptor: StreamPartDecryptor
    ) -> FileContent {
        opened(content, path, size, by: decryptor)
    }

    private func opened(
        _ content: FileContent,
        _ path: FileStorePath,
        _ size: Int,
        by decryptor: some PieceDecryptor
    ) -> FileContent {
        FileContent(length: size, isReplayable: content.isReplayable) {
            () async throws(FileStoreError) in
            let opener = Opener(decryptor)
            let reader = try await content.open()
            return FileReader { () async throws(FileStoreError) in
                do throws(OpeningFailure) {
                    return try await opener.next(from: reader)
                } catch {
                    switch error {
                    case .store(let error): throw error
                    case .cipher(let error): throw damaged(path, error)
                    }
                }
            }
        }
    }

    func damaged(_ path: FileStorePath, _ cause: SecurityError?) -> FileStoreError {
        FileStoreError(
            .damaged,
            "“\(path)” is damaged, belongs to a different path or context, or needs a different key.",
            cause: cause
        )
    }
}

private protocol PieceDecryptor: Sendable {
    mutating func update(_ piece: Data) throws(SecurityError) -> Data
    mutating func finish() throws(SecurityError) -> Data
}

extension StreamDecryptor: PieceDecryptor {}
extension StreamPartDecryptor: PieceDecryptor {}

private final class Sealer: Sendable {
    private struct State {
        let encryptor: StreamEncryptor
        var hash: FileHash
        var count = 0
        var isEnded = false
    }

    private let state: Mutex<State>

    init(_ encryptor: StreamEncryptor, _ hash: FileHash) {
        state = Mutex(State(encryptor: encryptor, hash: hash))
    }

    /// Returns the next encrypted piece; at the end, calls `check`, which throws if the plaintext is not as announced.
    func next(
        from reader: FileReader,
        check: (FileHash, Int) throws(FileStoreError) -> Void
    ) async throws(FileStoreError) -> [UInt8]? {
        while !state.withLock({ $0.isEnded }) {
            let piece = try await reader.next()
            if piece == nil {
                let (hash, count) = state.withLock { ($0.hash, $0.count) }
                try check(hash, count)
            }
            let sealed = try state.withLock { state throws(FileStoreError) in
                try Self.take(piece, &state)
            }
            if !sealed.isEmpty { return sealed }
        }
        return nil
    }

    private static func take(
        _ piece: [UInt8]?,
        _ state: inout State
    ) throws(FileStoreError) -> [UInt8] {
        do throws(SecurityError) {
            guard let piece else {
                state.isEnded = true
                return Array(try state.encryptor.finish())
            }
            state.hash.update(piece)
            state.count += piece.count
            return Array(try state.encryptor.update(Data(piece)))
        } catch {
            throw FileStoreError(.writeFailed, "The bytes could not be encrypted.", cause: error)
        }
    }
}

private final class Opener<Decryptor: PieceDecryptor>: Sendable {
    private struct State {
        var decryptor: Decryptor
        var isEnded = false
    }

    private let state: Mutex<State>

    init(_ decryptor: Decryptor) { state = Mutex(State(decryptor: decryptor)) }

    func next(from reader: FileReader) async throws(OpeningFailure) -> [UInt8]? {
        while !state.withLock({ $0.isEnded }) {
            let piece: [UInt8]?
            do throws(FileStoreError) {
                piece = try await reader.next()
            } catch {
                throw .store(error)
            }
            let plain = try state.withLock { state throws(OpeningFailure) in
                try Self.take(piece, &state)
            }
            if !plain.isEmpty { return plain }
        }
        return nil
    }

    private static func take(
        _ piece: [UInt8]?,
        _ state: inout State
    ) throws(OpeningFailure) -> [UInt8] {
        do throws(SecurityError) {
            guard let piece else {
                state.isEnded = true
                return Array(try state.decryptor.finish())
            }
            return Array(try state.decryptor.update(Data(piece)))
        } catch {
            throw .cipher(error)
        }
    }
}

private enum OpeningFailure: Error {
    case store(FileStoreError)
    case cipher(SecurityError)
}
#endif
