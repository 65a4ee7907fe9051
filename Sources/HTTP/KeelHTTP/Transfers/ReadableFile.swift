import KeelCore
import Synchronization

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

final class ReadableFile: Sendable {
    /// The length in bytes when the file was opened.
    let length: Int64

    private let path: String
    private let file: any OpenFile
    private let queue = DiskQueue()

    init(_ path: String) throws(HTTPFileError) {
        self.path = path
        do throws(FileSystemError) {
            file = try DiskFileSystem().open(path, for: .reading)
            length = Int64(try file.size())
        } catch {
            throw HTTPFileError(.open, path, error)
        }
    }

    /// Returns at most `count` bytes from `offset`; an empty array at the end of the file.
    func read(at offset: Int64, upTo count: Int) async throws(HTTPFileError) -> [UInt8] {
        do throws(FileSystemError) {
            return try await queue.run { [file] () throws(FileSystemError) in
                try file.read(at: Int(offset), count: count)
            }
        } catch {
            throw HTTPFileError(.read, path, error)
        }
    }
}

extension HTTPBody {
    /// Creates a body that is read from a file while it is sent, in chunks of 64 KiB.
    ///
    /// Its length is that of the file now. It is replayable: the file is opened again each time. If the file has
    /// another length by then, or changes it while it is sent, the exchange fails with
    /// ``TransportError/Code/bodyProducerFailed``, caused by an ``HTTPFileError``.
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

package struct HTTPBodyFile: Sendable {
    package let path: String
    package let length: Int64
    /// The observer for a transport that has the system send the file.
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
