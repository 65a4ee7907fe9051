import Foundation
import HTTPTypes
import KeelCore
import KeelHTTP
import KeelTestKit
import KeelTestSupport
import Synchronization
import Testing

@Suite("Downloads")
struct DownloadTests {
    @Test("A download into memory reports its progress")
    func downloadsIntoMemory() async throws {
        let transport = ScriptedHTTPTransport([
            .chunks([[1, 2], [3]], headers: [.contentLength: "3"]), .chunks([[4]]),
        ])
        let client = try makeClient(transport)
        let seen = SeenTransfer()
        #expect(
            try await client.download(from: GetFilm(), observer: seen.observer) == Data([1, 2, 3])
        )
        #expect(seen.progress.map(\.completedBytes) == [0, 2, 3])
        #expect(seen.progress.map(\.fraction) == [0, 2.0 / 3, 1])
        #expect(seen.bytes == [1, 2, 3])
        let other = SeenTransfer()
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
        let seen = SeenTransfer()
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

    @Test("A partial file is beside a destination whose name begins with a combining mark")
    func combiningMark() async throws {
        let folder = try TemporaryFolder()
        let stages = Mutex<[[String]]>([])
        let transport = ScriptedHTTPTransport([.chunks([[1], [2]], headers: [:])])
        _ = try await makeClient(transport).download(
            from: GetFilm(),
            to: folder.url.appendingPathComponent("\u{301}a"),
            observer: .progress { _ in stages.withLock { $0.append(folder.names) } }
        )
        #expect(folder.names == ["\u{301}a"])
        #expect(stages.withLock { $0.dropFirst().allSatisfy { $0.count == 1 } })
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
            let error = await expectError(NetworkError.self, code) {
                try await client.download(from: GetFilm(), to: place)
            }
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
            } catch { return error }
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
            let error = await expectError(NetworkError.self, .file) {
                try await client.download(from: GetFilm(), to: place)
            }
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
        let seen = SeenTransfer()
        _ = try await makeClient(transport).download(from: GetFilm(), observer: seen.observer)
        #expect(seen.progress.last == TransferProgress(completedBytes: 3))
    }

    @Test("An error body is not shown to the observer")
    func hidesRefusals() async throws {
        let transport = ScriptedHTTPTransport([.status(.notFound, body: [1, 2])])
        let seen = SeenTransfer()
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
        await expectError(NetworkError.self, .timeout) {
            try await client.download(
                from: GetFilm(),
                to: folder.url.appendingPathComponent("b"),
                timeout: .seconds(3)
            )
        }
        #expect(folder.names == ["a"])
    }
}
