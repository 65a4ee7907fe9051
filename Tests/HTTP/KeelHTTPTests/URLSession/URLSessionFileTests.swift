#if URLSession
import Foundation
import FoundationNetworking
import KeelTestSupport
import Synchronization
import Testing

@testable import KeelHTTP

@Suite("File bodies sent by the session", .timeLimit(.minutes(1)))
struct URLSessionFileTests {
    private func body(_ folder: TemporaryFolder) throws -> HTTPBody {
        try HTTPBody.file(try folder.file("film.mp4", [1, 2, 3, 4, 5]))
    }

    @Test("A body exposes its file unless an observer needs its chunks")
    func namesFile() throws {
        let folder = try TemporaryFolder()
        let body = try body(folder)
        let progress = TransferObserver.progress { _ in }
        #expect(body.file?.path == folder.url.path + "/film.mp4")
        #expect(body.observed(by: progress).observed(by: progress).file?.length == 5)
        #expect(body.observed(by: progress.combined(with: .chunks { _ in })).file == nil)
        #expect(body.observed(by: .chunks { _ in }).observed(by: progress).file == nil)
        #expect(HTTPBody([1]).file == nil)
        #expect(HTTPBody(joining: [body, body], inMemoryUpTo: 0).file == nil)
    }

    @Test("Every observer receives the session's progress")
    func tellsProgress() throws {
        let folder = try TemporaryFolder()
        let seen = Mutex<[TransferProgress]>([])
        let observer = TransferObserver.progress { step in seen.withLock { $0.append(step) } }
        let file = try #require(try body(folder).observed(by: observer).observed(by: observer).file)
        try exchange(file) { exchange, sent in
            #expect(seen.withLock { $0 }.isEmpty)
            sent(2, 5)
            // A session may not know the total.
            sent(5, -1)
        }
        let steps = [2, 2, 5, 5].map { TransferProgress(completedBytes: $0, totalBytes: 5) }
        #expect(seen.withLock { $0 } == steps)
    }

    @Test("A file with a length other than announced fails the exchange")
    func changesLength() async throws {
        let folder = try TemporaryFolder()
        let file = try #require(try body(folder).file)
        let failed = try exchange(file) { exchange, sent in
            sent(2, 6)
            return exchange
        }
        let error = await expectError(TransportError.self, .bodyProducerFailed) {
            try await failed.nextChunk()
        }
        #expect((error?.cause as? HTTPFileError)?.reason == .changedLength)
        let rest = try await failed.nextChunk()
        #expect(rest == nil)

        _ = try folder.file("film.mp4", [1, 2, 3, 4, 5, 6])
        #expect(throws: TransportError.self) { try file.opened() }
    }

    /// Creates an exchange of a task that sends a file, with a function that reports sent bytes.
    private func exchange<Value>(
        _ file: HTTPBodyFile,
        _ body: (URLSessionExchange, (Int64, Int64) -> Void) throws -> Value
    ) throws -> Value {
        let session = URLSession(configuration: .ephemeral)
        defer { session.invalidateAndCancel() }
        let exchanges = URLSessionExchanges(nil)
        let address = try #require(URL(string: "http://127.0.0.1:9/"))
        let task = session.uploadTask(
            with: URLRequest(url: address),
            fromFile: URL(filePath: file.path)
        )
        let exchange = exchanges.begin(task)
        exchange.send(file)
        return try body(exchange) { count, total in
            exchanges.urlSession(
                session,
                task: task,
                didSendBodyData: 1,
                totalBytesSent: count,
                totalBytesExpectedToSend: total
            )
        }
    }
}
#endif
