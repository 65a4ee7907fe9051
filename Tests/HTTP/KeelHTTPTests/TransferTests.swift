import Foundation
import HTTPTypes
import KeelCore
import KeelHTTP
import KeelTestKit
import Synchronization
import Testing

private struct GetFilm: ServiceEndpoint {
    var path: EndpointPath { "/film" }
}

private struct AddFilm: Endpoint {
    typealias Response = EmptyResponse
    var path: EndpointPath { "/films" }
}

/// The reports of observers.
private final class Seen: Sendable {
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
        let seen = Seen()
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
        let seen = Seen()
        _ = try await client.upload(content, to: AddFilm(), observer: seen.observer)
        #expect(seen.progress.map(\.completedBytes) == [0, 65_536, 100_000])
        let stream = HTTPBody(length: nil, isReplayable: false) { () async throws(TransportError) in
            .chunks([[1, 2], [3]])
        }
        let other = Seen()
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
        let seen = Seen()
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
        let seen = Seen()
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
            let error = await #expect(throws: NetworkError.self) {
                try await client.upload(.file(url), to: AddFilm())
            }
            #expect(error?.code == .file)
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
        let error = await #expect(throws: TransportError.self) {
            var pieces = try await body.open().makeAsyncIterator()
            _ = try await pieces.next()
            if isMidway { try alter() }
            while try await pieces.next() != nil {}
        }
        #expect(error?.code == .bodyProducerFailed)
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
        let error = await #expect(throws: NetworkError.self) {
            try await client.upload(.file(file), to: AddFilm(), timeout: .seconds(7))
        }
        #expect(error?.code == .timeout)
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
        for step in [40, 20, 20, 40] {
            await clock.waitForSleepers(2)
            await clock.advance(by: .seconds(step))
        }
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
        let client = try makeClient(ScriptedHTTPTransport([late])) { $0.clock = clock }
        let isOver = Mutex(false)
        async let outcome: NetworkError? = #expect(throws: NetworkError.self) {
            defer { isOver.withLock { $0 = true } }
            _ = try await client.upload(.file(file), to: AddFilm())
        }
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

@Suite("Downloads")
struct DownloadTests {
    @Test("A download into memory reports its progress")
    func downloadsIntoMemory() async throws {
        let transport = ScriptedHTTPTransport([
            .chunks([[1, 2], [3]], headers: [.contentLength: "3"]), .chunks([[4]]),
        ])
        let client = try makeClient(transport)
        let seen = Seen()
        #expect(
            try await client.download(from: GetFilm(), observer: seen.observer) == Data([1, 2, 3])
        )
        #expect(seen.progress.map(\.completedBytes) == [0, 2, 3])
        #expect(seen.progress.map(\.fraction) == [0, 2.0 / 3, 1])
        #expect(seen.bytes == [1, 2, 3])
        let other = Seen()
        _ = try await client.download(from: GetFilm(), observer: other.observer)
        #expect(other.progress.map(\.totalBytes) == [nil, nil])
    }

    @Test("A download is moved to its destination once it is complete")
    func downloadsToFiles() async throws {
        let folder = try TemporaryFolder()
        let content = TemporaryFolder.bytes(700_000)
        let chunks = stride(from: 0, to: content.count, by: 50_000).map {
            Array(content[$0..<min($0 + 50_000, content.count)])
        }
        let place = try folder.file("film.mp4", [9, 9, 9])
        let seen = Seen()
        let stages = Mutex<[[String]]>([])
        let observer = seen.observer.combined(
            with:
                .progress { _ in stages.withLock { $0.append(folder.names) } }
        )
        let transport = ScriptedHTTPTransport([
            .chunks(chunks, headers: [.contentLength: "700000", .eTag: "x"])
        ])
        let head = try await makeClient(transport)
            .download(from: GetFilm(), to: place, observer: observer)
        #expect(head.headerFields[.eTag] == "x")
        #expect(try Data(contentsOf: place) == Data(content))
        #expect(folder.names == ["film.mp4"])
        #expect(stages.withLock { $0.dropFirst().allSatisfy { $0.count == 2 } })
        #expect(seen.progress.count == 15)
        #expect(
            seen.progress.last == TransferProgress(completedBytes: 700_000, totalBytes: 700_000)
        )
        #expect(seen.bytes == content)
    }

    @Test("An empty body creates an empty file")
    func downloadsNothing() async throws {
        let folder = try TemporaryFolder()
        let place = folder.url.appendingPathComponent("empty")
        try await makeClient(ScriptedHTTPTransport([.status(.ok)])).download(
            from: GetFilm(),
            to: place
        )
        #expect(try Data(contentsOf: place).isEmpty)
    }

    @Test("A failed download leaves only the old file")
    func cleansUp() async throws {
        let folder = try TemporaryFolder()
        let place = try folder.file("film.mp4", [9])
        let transport = ScriptedHTTPTransport([
            .chunks([TemporaryFolder.bytes(600_000)], thenThrow: TransportError(.connectionLost)),
            .status(.notFound, body: [1]), .failure(TransportError(.connectionRefused)),
        ])
        let client = try makeClient(transport)
        for code in [NetworkError.Code.connectionLost, .notFound, .noConnection] {
            let error = await #expect(throws: NetworkError.self) {
                try await client.download(from: GetFilm(), to: place)
            }
            #expect(error?.code == code)
            #expect(error?.url == "https://api.example.com/v1/film")
            #expect(folder.names == ["film.mp4"])
            #expect(try Data(contentsOf: place) == Data([9]))
        }
    }

    @Test("A canceled download leaves nothing behind")
    func cancels() async throws {
        let folder = try TemporaryFolder()
        let place = folder.url.appendingPathComponent("film.mp4")
        let (stalled, continuation) = AsyncStream.makeStream(of: Void.self)
        let transport = ScriptedHTTPTransport([
            .stallingBody(
                after: [TemporaryFolder.bytes(300_000)],
                onStall: { continuation.finish() }
            )
        ])
        let client = try makeClient(transport)
        let task = Task { () -> NetworkError? in
            do throws(NetworkError) {
                try await client.download(from: GetFilm(), to: place)
                return nil
            } catch {
                return error
            }
        }
        for await _ in stalled {}
        #expect(folder.names.count == 1)
        task.cancel()
        #expect(await task.value?.isCancellation == true)
        #expect(folder.names.isEmpty)
    }

    @Test("A destination that cannot be written is reported as a file error")
    func reportsPlaces() async throws {
        let folder = try TemporaryFolder()
        let inner = folder.url.appendingPathComponent("folder")
        try FileManager.default.createDirectory(at: inner, withIntermediateDirectories: false)
        let transport = ScriptedHTTPTransport(then: .chunks([[1]]))
        let client = try makeClient(transport)
        for (place, reason) in [
            (folder.url.appendingPathComponent("none/film"), HTTPFileError.Reason.open),
            (inner, .rename),
        ] {
            let error = await #expect(throws: NetworkError.self) {
                try await client.download(from: GetFilm(), to: place)
            }
            #expect(error?.code == .file)
            #expect((error?.cause as? HTTPFileError)?.reason == reason)
            #expect(folder.names == ["folder"])
        }
    }

    @Test("The sequence of an observer returns the latest progress and ends with the transfer")
    func givesUpdates() async throws {
        let transport = ScriptedHTTPTransport([
            .chunks([[1], [2], [3]], headers: [.contentLength: "3"]),
            .failure(TransportError(.connectionRefused)), .status(.ok),
        ])
        let client = try makeClient(transport)
        let (observer, updates) = TransferObserver.updates()
        async let data = client.download(from: GetFilm(), observer: observer)
        var last: TransferProgress?
        for await progress in updates { last = progress }
        #expect(try await data.count == 3)
        #expect(last == TransferProgress(completedBytes: 3, totalBytes: 3))
        let (failing, nothing) = TransferObserver.updates()
        await #expect(throws: NetworkError.self) {
            try await client.download(from: GetFilm(), observer: failing)
        }
        for await _ in nothing {}
        let (sending, steps) = TransferObserver.updates()
        _ = try await client.upload([1, 2] as [UInt8], to: AddFilm(), observer: sending)
        var sent: TransferProgress?
        for await step in steps { sent = step }
        #expect(sent?.completedBytes == 2)
    }

    @Test("Progress has no total if the body has a content coding")
    func distrustsCodedLengths() async throws {
        let transport = ScriptedHTTPTransport([
            .chunks([[1, 2, 3]], headers: [.contentLength: "3", .contentEncoding: "gzip"])
        ])
        let seen = Seen()
        _ = try await makeClient(transport).download(from: GetFilm(), observer: seen.observer)
        #expect(seen.progress.last == TransferProgress(completedBytes: 3))
    }

    @Test("An error body is not shown to the observer")
    func hidesRefusals() async throws {
        let transport = ScriptedHTTPTransport([.status(.notFound, body: [1, 2])])
        let seen = Seen()
        await #expect(throws: NetworkError.self) {
            try await makeClient(transport).download(from: GetFilm(), observer: seen.observer)
        }
        #expect(seen.progress.isEmpty && seen.bytes.isEmpty)
    }

    @Test("The client's timeout covers a download's head; an explicit one covers all of it")
    func limitsDownloads() async throws {
        let folder = try TemporaryFolder()
        let clock = GateClock()
        let transport = ScriptedHTTPTransport([
            .status(.ok), .stallingBody(after: [[1]], onStall: { clock.open() }),
        ])
        let client = try makeClient(transport) { $0.clock = clock }
        try await client.download(from: GetFilm(), to: folder.url.appendingPathComponent("a"))
        // The sleep for the limit is a task of its own, which may begin after the download has ended.
        try await waitUntil { !clock.sleeps.isEmpty }
        #expect(clock.sleeps == [.seconds(60)])
        let error = await #expect(throws: NetworkError.self) {
            try await client.download(
                from: GetFilm(),
                to: folder.url.appendingPathComponent("b"),
                timeout: .seconds(3)
            )
        }
        #expect(error?.code == .timeout)
        #expect(folder.names == ["a"])
    }
}

/// A transport that reads a request body as directed by a test, then responds.
private struct StepwiseTransport: HTTPTransportDouble {
    let read: @Sendable (inout HTTPByteStream.Iterator) async throws -> Void

    func send(_ call: HTTPCall) async throws(TransportError) -> HTTPReply {
        guard var pieces = try await call.body?.open().makeAsyncIterator() else {
            throw TransportError(.unknown)
        }
        do {
            try await read(&pieces)
        } catch {
            throw TransportError(.unknown, cause: error)
        }
        return HTTPReply(head: HTTPResponse(status: .ok))
    }
}
