import Dispatch
import Synchronization

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Android)
import Android
#endif

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// A queue on which the operations of one file wait for the disk.
///
/// They would otherwise block the few threads of the concurrency pool.
struct FileQueue: Sendable {
    private let queue = DispatchQueue(label: "keel.http.file")

    func run<Value: Sendable>(
        _ work: @escaping @Sendable () throws(HTTPFileError) -> Value
    ) async throws(HTTPFileError) -> Value {
        let result = await withCheckedContinuation { waiter in
            queue.async {
                do throws(HTTPFileError) {
                    waiter.resume(returning: Result<Value, HTTPFileError>.success(try work()))
                } catch {
                    waiter.resume(returning: .failure(error))
                }
            }
        }
        return try result.get()
    }
}

/// A file open for reading; closed when it is dropped.
final class ReadableFile: Sendable {
    /// The length in bytes when the file was opened.
    let length: Int64

    private let path: String
    private let descriptor: Int32
    private let queue = FileQueue()

    init(_ path: String) throws(HTTPFileError) {
        self.path = path
        // Without O_NONBLOCK, opening a pipe without a writer would block forever.
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { throw HTTPFileError(.open, path, number: errno) }
        var status = stat()
        let failure = fstat(descriptor, &status) == 0 ? nil : errno
        guard failure == nil, status.st_mode & S_IFMT == S_IFREG else {
            close(descriptor)
            throw failure.map { HTTPFileError(.open, path, number: $0) }
                ?? HTTPFileError(.notAFile, path)
        }
        self.descriptor = descriptor
        length = Int64(status.st_size)
    }

    deinit {
        close(descriptor)
    }

    /// Returns at most `count` bytes from `offset`; an empty array at the end of the file.
    func read(at offset: Int64, upTo count: Int) async throws(HTTPFileError) -> [UInt8] {
        try await queue.run { () throws(HTTPFileError) in
            var failure: Int32?
            let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
                var read = -1
                repeat {
                    read = pread(self.descriptor, buffer.baseAddress, count, off_t(offset))
                } while read < 0 && errno == EINTR
                if read < 0 { failure = errno }
                initialized = max(read, 0)
            }
            if let failure { throw HTTPFileError(.read, self.path, number: failure) }
            return bytes
        }
    }
}

extension HTTPBody {
    /// Creates a body that is read from a file while it is sent, in chunks of 64 KiB.
    ///
    /// Its length is that of the file now. It is replayable: the file is opened again each time. If the length of the
    /// file has changed by then, or changes while it is sent, the exchange fails with
    /// ``TransportError/Code/bodyProducerFailed`` and an ``HTTPFileError`` as its cause. Reading does not block Swift's
    /// concurrency threads.
    ///
    /// - Throws: ``HTTPFileError`` if the file cannot be opened or is not a regular file.
    public static func file(_ url: URL) throws(HTTPFileError) -> HTTPBody {
        let path = try HTTPFileError.localPath(of: url)
        let source = HTTPBodyFile(path: path, length: try ReadableFile(path).length)
        var body = HTTPBody(
            length: source.length,
            isReplayable: true
        ) { () async throws(TransportError) in
            let reader = FileBodyReader(try source.opened(), path)
            return HTTPByteStream { () async throws(TransportError) in try await reader.next() }
        }
        body.file = source
        return body
    }
}

/// A file that is the whole body.
package struct HTTPBodyFile: Sendable {
    package let path: String
    /// The size of the body in bytes.
    package let length: Int64
    /// The observer of the bytes sent, for a transport that has the system send the file.
    var observer: TransferObserver?

    /// Opens the file.
    ///
    /// - Throws: ``TransportError/Code/bodyProducerFailed`` if the file cannot be opened or its length has changed.
    func opened() throws(TransportError) -> ReadableFile {
        do throws(HTTPFileError) {
            let file = try ReadableFile(path)
            guard file.length == length else { throw HTTPFileError(.changedLength, path) }
            return file
        } catch {
            throw TransportError(.bodyProducerFailed, cause: error)
        }
    }
}

/// A reader of a file from its start; like every stream, it has one reader at a time.
private final class FileBodyReader: Sendable {
    private let file: ReadableFile
    private let path: String
    private let offset = Mutex<Int64>(0)

    init(_ file: ReadableFile, _ path: String) {
        self.file = file
        self.path = path
    }

    func next() async throws(TransportError) -> ArraySlice<UInt8>? {
        let offset = offset.withLock { $0 }
        let wanted = Int(min(file.length - offset, Int64(HTTPBody.pieceSize)))
        guard wanted > 0 else { return nil }
        let isLast = offset + Int64(wanted) == file.length
        do throws(HTTPFileError) {
            // Reading one more byte than expected detects a file that has grown, before its last chunk completes the
            // request.
            let bytes = try await file.read(at: offset, upTo: isLast ? wanted + 1 : wanted)
            guard !bytes.isEmpty, bytes.count <= wanted else {
                throw HTTPFileError(.changedLength, path)
            }
            self.offset.withLock { $0 = offset + Int64(bytes.count) }
            return bytes[...]
        } catch {
            throw TransportError(.bodyProducerFailed, cause: error)
        }
    }
}
