internal import Dispatch
internal import Foundation
package import KeelFiles
internal import KeelToolSupport
internal import Synchronization

extension FileContent {
    /// The bytes of standard input up to its end, which can be read once and whose number is unknown.
    package static var standardInput: FileContent {
        let pieces = FilePieces(.standardInput, waits: true)
        return FileContent(length: nil, isReplayable: false) { () async throws(FileStoreError) in
            FileReader { () async throws(FileStoreError) in try await pieces.next() }
        }
    }

    static func local(_ path: String) -> FileContent {
        FileContent(length: nil, isReplayable: true) { () async throws(FileStoreError) in
            guard let handle = FileHandle(forReadingAtPath: path) else {
                throw FileStoreError(.sourceFailed, "“\(path)” cannot be opened.")
            }
            let pieces = FilePieces(handle, waits: false)
            return FileReader { () async throws(FileStoreError) in try await pieces.next() }
        }
    }

    /// Writes the bytes to standard output; `progress` receives the number written.
    ///
    /// - Throws: `FileStoreError` if the content cannot be read, or the error of the output.
    package func writeToStandardOutput(progress: (Int) -> Void = { _ in }) async throws {
        let reader = try await open()
        var count = 0
        while let piece = try await reader.next() {
            try StandardOutput.write(piece)
            count += piece.count
            progress(count)
        }
    }
}

/// The pieces of an open file, read on a dispatch queue, because reading a pipe blocks.
private final class FilePieces: Sendable {
    private static let pieceByteCount = 1 << 20
    /// The interval at which a wait notices cancellation, in milliseconds.
    private static let interval: Int32 = 100

    private let handle: FileHandle
    private let waits: Bool

    init(_ handle: FileHandle, waits: Bool) {
        self.handle = handle
        self.waits = waits
    }

    func next() async throws(FileStoreError) -> [UInt8]? {
        let isCancelled = Flag()
        let result: Result<[UInt8]?, FileStoreError> = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                DispatchQueue.global().async {
                    continuation.resume(returning: self.piece(isCancelled))
                }
            }
        } onCancel: {
            isCancelled.value.withLock { $0 = true }
        }
        return try result.get()
    }

    private final class Flag: Sendable {
        let value = Mutex(false)
    }

    private func piece(_ isCancelled: Flag) -> Result<[UInt8]?, FileStoreError> {
        if waits {
            var state = pollfd(fd: handle.fileDescriptor, events: Int16(POLLIN), revents: 0)
            while poll(&state, 1, Self.interval) == 0 {
                if isCancelled.value.withLock({ $0 }) {
                    return .failure(
                        FileStoreError(.sourceFailed, "Reading standard input was interrupted.")
                    )
                }
            }
        }
        var bytes = [UInt8](repeating: 0, count: Self.pieceByteCount)
        var count = read(handle.fileDescriptor, &bytes, Self.pieceByteCount)
        while count < 0, errno == EINTR {
            count = read(handle.fileDescriptor, &bytes, Self.pieceByteCount)
        }
        guard count >= 0 else {
            let reason = String(cString: strerror(errno))
            return .failure(
                FileStoreError(.sourceFailed, "The input cannot be read: \(reason).")
            )
        }
        return .success(count == 0 ? nil : Array(bytes[..<count]))
    }
}
