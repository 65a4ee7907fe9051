import Foundation
import HTTPTypes
import KeelCore
import KeelHTTP
import KeelTestKit
import KeelTestSupport
import Synchronization
import Testing

struct GetFilm: ServiceEndpoint { var path: EndpointPath { "/film" } }

struct AddFilm: Endpoint {
    typealias Response = EmptyResponse
    var path: EndpointPath { "/films" }
}

/// The reports of observers.
final class SeenTransfer: Sendable {
    private let state = Mutex<(progress: [TransferProgress], bytes: [UInt8])>(([], []))

    var progress: [TransferProgress] { state.withLock { $0.progress } }
    var bytes: [UInt8] { state.withLock { $0.bytes } }

    var observer: TransferObserver {
        TransferObserver.progress { step in self.state.withLock { $0.progress.append(step) } }
            .combined(
                with: .chunks { chunk in
                    self.state.withLock { $0.bytes.append(contentsOf: chunk) }
                }
            )
    }
}

@Suite("Uploads")
struct UploadTests {
    @Test("A file is sent unchanged, in chunks, with its length")
    func uploadsFiles() async throws {
        let folder = try TemporaryFolder()
        let content = TemporaryFolder.bytes(200_001)
        let file = try folder.file("film.mp4", content)
        let transport = ScriptedHTTPTransport([.status(.ok)])
        let seen = SeenTransfer()
        _ = try await makeClient(transport)
            .upload(.file(file, contentType: "video/mp4"), to: AddFilm(), observer: seen.observer)
        let call = try #require(transport.calls.first)
        #expect(call.head.method == .post)
        #expect(call.head.headerFields[.contentType] == "video/mp4")
        #expect(call.body == content)
        #expect(seen.bytes == content)
        #expect(seen.progress.map(\.completedBytes) == [0, 65_536, 131_072, 196_608, 200_001])
        #expect(seen.progress.allSatisfy { $0.totalBytes == 200_001 })
        #expect(seen.progress.last?.fraction == 1)
    }

    @Test("Bytes in memory and streams also report progress")
    func observesAllBodies() async throws {
        let content = TemporaryFolder.bytes(100_000)
        let transport = ScriptedHTTPTransport(then: .status(.ok))
        let client = try makeClient(transport)
        let seen = SeenTransfer()
        _ = try await client.upload(content, to: AddFilm(), observer: seen.observer)
        #expect(seen.progress.map(\.completedBytes) == [0, 65_536, 100_000])
        let stream = HTTPBody(length: nil, isReplayable: false) { () async throws(TransportError) in
            .chunks([[1, 2], [3]])
        }
        let other = SeenTransfer()
        _ = try await client.upload(
            .stream(stream, contentType: "application/x-thing"),
            to: GetRestaurant(id: "1"),
            as: EmptyResponse.self,
            observer: other.observer
        )
        #expect(other.progress.map(\.completedBytes) == [0, 2, 3])
        #expect(other.progress.allSatisfy { $0.totalBytes == nil && $0.fraction == nil })
        #expect(transport.calls.map(\.body) == [content, [1, 2, 3]])
    }

    @Test("Bytes count once the transport requests more, not when they are handed over")
    func countsTakenBytes() async throws {
        let seen = SeenTransfer()
        let counts = Mutex<[Int64]>([])
        let transport = StepwiseTransport { pieces in
            for _ in 1...2 {
                _ = try await pieces.next()
                counts.withLock { $0.append(seen.progress.last?.completedBytes ?? -1) }
            }
        }
        let client = NetworkClient(
            baseURL: try #require(URL(string: "https://api.example.com")),
            transport: transport
        )
        let content = TemporaryFolder.bytes(100_000)
        _ = try await client.upload(content, to: AddFilm(), observer: seen.observer)
        #expect(counts.withLock { $0 } == [0, 65_536])
    }

    @Test("The progress of a resent body is reported again")
    func countsRepetitions() async throws {
        let transport = ScriptedHTTPTransport([
            .redirect(to: "/next", status: .temporaryRedirect), .status(.ok),
        ])
        let seen = SeenTransfer()
        let client = try makeClient(transport) { $0.redirects = .all }
        _ = try await client.upload([1, 2, 3] as [UInt8], to: AddFilm(), observer: seen.observer)
        #expect(seen.progress.map(\.completedBytes) == [0, 3, 0, 3])
        #expect(seen.bytes == [1, 2, 3, 1, 2, 3])
    }

    @Test("A missing file or a folder is reported before anything is sent")
    func reportsFiles() async throws {
        let folder = try TemporaryFolder()
        let transport = ScriptedHTTPTransport()
        let client = try makeClient(transport)
        for (url, reason) in [
            (folder.url.appendingPathComponent("none"), HTTPFileError.Reason.open),
            (folder.url, .notAFile),
        ] {
            let error = await expectError(NetworkError.self, .file) {
                try await client.upload(.file(url), to: AddFilm())
            }
            #expect((error?.cause as? HTTPFileError)?.reason == reason)
            #expect((error?.cause as? HTTPFileError)?.path == url.path(percentEncoded: false))
            #expect((error?.cause as? HTTPFileError)?.number == (reason == .open ? 2 : nil))
        }
        #expect(transport.calls.isEmpty)
    }

    @Test(
        "A file whose length changes before or during reading fails the body",
        arguments: ["shrinks at once", "grows at once", "shrinks midway", "grows midway"]
    )
    func noticesChanges(change: String) async throws {
        let folder = try TemporaryFolder()
        let file = try folder.file("log", TemporaryFolder.bytes(200_000))
        let body = try HTTPBody.file(file)
        #expect(body.length == 200_000)
        let isMidway = change.hasSuffix("midway")
        func alter() throws {
            let handle = try FileHandle(forWritingTo: file)
            try handle.truncate(atOffset: change.hasPrefix("shrinks") ? 100_000 : 200_001)
            try handle.close()
        }
        if !isMidway { try alter() }
        let error = await expectError(TransportError.self, .bodyProducerFailed) {
            var pieces = try await body.open().makeAsyncIterator()
            _ = try await pieces.next()
            if isMidway { try alter() }
            while try await pieces.next() != nil {}
        }
        #expect((error?.cause as? HTTPFileError)?.reason == .changedLength)
        #expect(NetworkError(try #require(error)).code == .file)
    }

    @Test("An empty file gives an empty body")
    func uploadsEmptyFiles() async throws {
        let folder = try TemporaryFolder()
        let body = try HTTPBody.file(try folder.file("empty", []))
        #expect(body.length == 0)
        #expect(try await body.open().collect(upTo: 1).isEmpty)
    }

    @Test("A streamed upload has a total time only if one is set")
    func limitsUploads() async throws {
        let folder = try TemporaryFolder()
        let file = try folder.file("a", [1])
        let clock = GateClock()
        let client = try makeClient(ScriptedHTTPTransport([.status(.ok), .stall])) {
            $0.clock = clock
            $0.timeout = nil
        }
        _ = try await client.upload(.file(file), to: AddFilm())
        #expect(clock.sleeps.isEmpty)
        clock.open()
        await expectError(NetworkError.self, .timeout) {
            try await client.upload(.file(file), to: AddFilm(), timeout: .seconds(7))
        }
        #expect(clock.sleeps == [.seconds(7)])
    }

    @Test("A streamed upload ends only after no bytes have moved for the client's timeout")
    func noticesSilence() async throws {
        let folder = try TemporaryFolder()
        let file = try folder.file("a", TemporaryFolder.bytes(150_000))
        let clock = TestClock()
        let moved = Mutex(0)
        let transport = StepwiseTransport { pieces in
            // Each of the two chunks is taken in time, but both together take longer than the limit.
            for _ in 1...2 {
                _ = try await pieces.next()
                try await clock.sleep(for: .seconds(40))
                moved.withLock { $0 += 1 }
            }
            _ = try await pieces.next()
            try await clock.sleep(for: .seconds(100_000))
        }
        var configuration = try NetworkClient.Configuration("https://api.example.com")
        configuration.retry = .never
        configuration.clock = clock
        let client = NetworkClient(configuration, transport: transport)
        let isOver = Mutex(false)
        async let outcome: NetworkError? = #expect(throws: NetworkError.self) {
            defer { isOver.withLock { $0 = true } }
            _ = try await client.upload(.file(file), to: AddFilm())
        }
        for step in [40, 20, 20, 40] { await clock.advance(by: .seconds(step), onceAsleep: 2) }
        await clock.waitForSleepers(2)
        #expect(moved.withLock { $0 } == 2)
        #expect(!isOver.withLock { $0 })
        await clock.advance(by: .seconds(60))
        let error = await outcome
        #expect(error?.code == .timeout)
        #expect(error?.transportError?.code == .writeTimeout)
    }

    @Test("Silence after the whole body was sent ends with a response timeout")
    func noticesMissingAnswers() async throws {
        let folder = try TemporaryFolder()
        let file = try folder.file("a", [1, 2, 3])
        let clock = TestClock()
        let (stalled, continuation) = AsyncStream.makeStream(of: Void.self)
        let stall = ScriptedHTTPTransport.Answer { _ async throws(TransportError) in
            continuation.yield()
            try await GateClock().wait()
            throw TransportError(.cancelled)
        }
        let transport = ScriptedHTTPTransport([
            stall, .stallingBody(after: [[1]], onStall: { continuation.yield() }),
        ])
        let client = try makeClient(transport) { $0.clock = clock }
        var stalls = stalled.makeAsyncIterator()
        for _ in 1...2 {
            let isOver = Mutex(false)
            async let outcome: NetworkError? = #expect(throws: NetworkError.self) {
                defer { isOver.withLock { $0 = true } }
                _ = try await client.upload(.file(file), to: AddFilm())
            }
            await stalls.next()
            try await waitUntil {
                await clock.advance(by: .seconds(60))
                return isOver.withLock { $0 }
            }
            #expect(await outcome?.transportError?.code == .responseTimeout)
        }
    }

    @Test("An answer that comes as the exchange is canceled for its silence counts")
    func keepsLateAnswers() async throws {
        let folder = try TemporaryFolder()
        let file = try folder.file("a", [1, 2, 3])
        let clock = TestClock()
        let late = ScriptedHTTPTransport.Answer { _ async throws(TransportError) in
            try? await GateClock().wait()
            return HTTPReply(head: HTTPResponse(status: .noContent), body: .chunks([]))
        }
        let client = try makeClient(ScriptedHTTPTransport([late])) { $0.clock = clock }
        let isOver = Mutex(false)
        async let outcome: Void = {
            defer { isOver.withLock { $0 = true } }
            _ = try await client.upload(.file(file), to: AddFilm())
        }()
        try await waitUntil {
            await clock.advance(by: .seconds(60))
            return isOver.withLock { $0 }
        }
        try await outcome
    }

    @Test("The body of a late answer, which was canceled with the exchange, ends with the silence")
    func namesSilenceOfLateAnswers() async throws {
        let folder = try TemporaryFolder()
        let file = try folder.file("a", [1, 2, 3])
        let clock = TestClock()
        let late = ScriptedHTTPTransport.Answer { _ async throws(TransportError) in
            try? await GateClock().wait()
            let body = HTTPByteStream.chunks([[1]], thenThrow: TransportError(.cancelled))
            return HTTPReply(head: HTTPResponse(status: .ok), body: body)
        }
        let transport = ScriptedHTTPTransport([late])
        let client = try makeClient(transport) { $0.clock = clock }
        let isOver = Mutex(false)
        async let outcome: NetworkError? = #expect(throws: NetworkError.self) {
            defer { isOver.withLock { $0 = true } }
            _ = try await client.upload(.file(file), to: AddFilm())
        }
        // Before the whole file is sent, the silence would be that of the writer.
        try await waitUntil { transport.calls.count == 1 }
        try await waitUntil {
            await clock.advance(by: .seconds(60))
            return isOver.withLock { $0 }
        }
        #expect(await outcome?.transportError?.code == .responseTimeout)
    }

    @Test("A URL that is not a file URL is rejected")
    func refusesRemoteURLs() async throws {
        let url = try #require(URL(string: "https://example.com/etc/hosts"))
        let client = try makeClient(ScriptedHTTPTransport(then: .status(.ok)))
        for error in [
            await #expect(throws: NetworkError.self) {
                try await client.upload(.file(url), to: AddFilm())
            },
            await #expect(throws: NetworkError.self) {
                try await client.download(from: GetFilm(), to: url)
            },
        ] {
            #expect(error?.code == .file)
            #expect((error?.cause as? HTTPFileError)?.reason == .notLocal)
        }
    }
}

/// A transport that reads a request body as directed by a test, then responds.
private struct StepwiseTransport: HTTPTransportDouble {
    let read: @Sendable (inout HTTPByteStream.Iterator) async throws -> Void

    func send(_ call: HTTPCall) async throws(TransportError) -> HTTPReply {
        guard var pieces = try await call.body?.open().makeAsyncIterator() else {
            throw TransportError(.unknown)
        }
        do { try await read(&pieces) } catch { throw TransportError(.unknown, cause: error) }
        return HTTPReply(head: HTTPResponse(status: .ok))
    }
}
