import Foundation
import HTTPTypes
import KeelCore
import KeelHTTP
import KeelHTTPTransfers
import KeelTestKit
import KeelTestSupport
import Testing

@Suite("Resumable downloads")
struct DownloadTests {
    private static let content = Fixture.bytes(20_000)

    /// Returns an answer with the whole file and the given fields.
    private static func whole(
        _ fields: HTTPFields,
        cutAt count: Int? = nil
    ) -> ScriptedHTTPTransport.Answer {
        ScriptedHTTPTransport.Answer { _ async throws(TransportError) in
            var fields = fields
            fields[.contentLength] = "\(content.count)"
            let head = HTTPResponse(status: .ok, headerFields: fields)
            guard let count else { return HTTPReply(head: head, body: .chunks([content])) }
            let lost = TransportError(.connectionLost, phase: .readBody)
            let body = HTTPByteStream.chunks([Array(content.prefix(count))], thenThrow: lost)
            return HTTPReply(head: head, body: body)
        }
    }

    @Test(
        "Only a strong validator is sent in If-Range",
        arguments: [
            (["ETag": #""a1""#], #""a1""#),
            (["ETag": #"W/"a1""#], nil),
            (["ETag": "a1"], nil),
            (
                [
                    "Last-Modified": "Sun, 06 Nov 1994 08:49:37 GMT",
                    "Date": "Sun, 06 Nov 1994 08:50:37 GMT",
                ], "Sun, 06 Nov 1994 08:49:37 GMT"
            ),
            (
                [
                    "Last-Modified": "Sun, 06 Nov 1994 08:49:37 GMT",
                    "Date": "Sun, 06 Nov 1994 08:50:36 GMT",
                ], nil
            ),
            (["Last-Modified": "Sun, 06 Nov 1994 08:49:37 GMT"], nil),
            (
                [
                    "ETag": #"W/"a1""#, "Last-Modified": "Sun, 06 Nov 1994 08:49:37 GMT",
                    "Date": "Sun, 06 Nov 1995 08:50:37 GMT",
                ], nil
            ),
            ([:], nil),
        ] as [([String: String], String?)]
    )
    func validators(_ fields: [String: String], _ expected: String?) async throws {
        var head = HTTPFields()
        for (name, value) in fields { head[.named(name)] = value }
        let transport = ScriptedHTTPTransport([Self.whole(head, cutAt: 9000), Self.whole(head)])
        let files = SimulatedFileSystem()
        _ = try await Fixture.download(transport, files).run()
        let second = try #require(transport.calls.last)
        #expect(second.head.headerFields[.ifRange] == expected)
        #expect(second.head.headerFields[.range] == (expected == nil ? nil : "bytes=9000-"))
        #expect(second.head.headerFields[.acceptEncoding] == "identity")
        #expect(files.disk["/disk/film.mp4"] == Self.content)
    }

    @Test("A weak tag restarts the download and reports the reason")
    func weakTag() async throws {
        let files = SimulatedFileSystem()
        let fields: HTTPFields = [.eTag: #"W/"a""#]
        let first = ScriptedHTTPTransport([Self.whole(fields, cutAt: 9000)])
        await #expect(throws: TransferError.self) {
            _ = try await Fixture.download(first, files) { $0.retry.policy = .never }.run()
        }
        let events = Events()
        let second = ScriptedHTTPTransport([Self.whole(fields)])
        _ = try await Fixture.download(second, files).run(observer: events.observer)
        #expect(events.restarts == [.noValidator])
        #expect(second.calls.count == 1)
    }

    @Test("A download goes on after its token could not be renewed for a while")
    func refreshFails() async throws {
        let reason = AuthenticationError(.refreshFailed, cause: NetworkError(.noConnection))
        let transport = ScriptedHTTPTransport([
            .failure(TransportError(.credentialsUnavailable, cause: reason)),
            Self.whole([.eTag: #""a""#]),
        ])
        let files = SimulatedFileSystem()
        let events = Events()
        _ = try await Fixture.download(transport, files).run(observer: events.observer)
        #expect(events.pauses.count == 1)
        #expect(files.disk["/disk/film.mp4"] == Self.content)
    }

    @Test("A response with a content coding is rejected")
    func coded() async throws {
        let transport = ScriptedHTTPTransport([Self.whole([.contentEncoding: "gzip"])])
        await expectError(TransferError.self, .contentCoded) {
            _ = try await Fixture.download(transport, SimulatedFileSystem()).run()
        }
    }

    @Test("A download to a file in use is rejected")
    func locked() async throws {
        let files = SimulatedFileSystem()
        let lock = try files.lock("/disk/.keel-film.mp4.lock")
        let origin = RangeOrigin(Self.content)
        await expectError(TransferError.self, .inUse) {
            _ = try await Fixture.download(origin, files).run()
        }
        await expectError(TransferError.self, .inUse) {
            try await Fixture.download(origin, files).discard()
        }
        withExtendedLifetime(lock) {}
    }

    @Test("A full disk throws its own error, and the download resumes once there is room")
    func fullDisk() async throws {
        let files = SimulatedFileSystem()
        files.limit(to: 17_000)
        let origin = RangeOrigin(Self.content)
        let error = await expectError(TransferError.self, .noSpace) {
            _ = try await Fixture.download(origin, files).run()
        }
        #expect(error?.completedBytes ?? 0 > 0)
        files.limit(to: nil)
        let receipt = try await Fixture.download(origin, files).run()
        #expect(receipt.resumedBytes == error?.completedBytes)
        #expect(files.disk["/disk/film.mp4"] == Self.content)
    }

    @Test("A failed file operation ends the run with its error, and the next run succeeds")
    func failingFiles() async throws {
        let calls: [FileCall] = [
            .create("/disk/.keel-film.mp4.part"), .write("/disk/.keel-film.mp4.part"),
            .sync("/disk/.keel-film.mp4.part"), .sync("/disk/.keel-film.mp4.download"),
            .create("/disk/.keel-film.mp4.download-new"),
            .rename("/disk/.keel-film.mp4.download-new"), .rename("/disk/.keel-film.mp4.part"),
            .syncFolder("/disk"), .remove("/disk/.keel-film.mp4.download"),
            .lock("/disk/.keel-film.mp4.lock"), .truncate("/disk/.keel-film.mp4.part"),
        ]
        for call in calls {
            let files = SimulatedFileSystem()
            files.fail { $0 == call ? FileSystemError.inputOutput : nil }
            let origin = RangeOrigin(Self.content)
            let error = await #expect(throws: TransferError.self, "\(call)") {
                _ = try await Fixture.download(origin, files).run()
            }
            #expect(error?.code == .fileSystem, "\(call)")
            files.fail(nil)
            _ = try await Fixture.download(origin, files).run()
            #expect(files.disk["/disk/film.mp4"] == Self.content, "\(call)")
            #expect(files.disk.paths.keys.sorted() == ["/disk/film.mp4"], "\(call)")
        }
    }

    @Test("A changed path restarts the download if so configured; a changed query does not")
    func otherAddress() async throws {
        for (address, isOther) in [("film.mp4?s=2", false), ("mirror/film.mp4?s=1", true)] {
            let files = SimulatedFileSystem()
            let origin = RangeOrigin(Self.content, seed: 4, rate: 1, faults: [.brokenBody])
            await #expect(throws: TransferError.self) {
                _ = try await Fixture.download(origin, files, from: "film.mp4?s=1") {
                    $0.retry.policy = .never
                }.run()
            }
            origin.calm()
            let events = Events()
            let second = try Fixture.download(origin, files, from: address) {
                $0.changedAddress = .restart
            }
            let receipt = try await second.run(observer: events.observer)
            #expect(events.restarts == (isOther ? [.otherAddress] : []))
            #expect((receipt.resumedBytes > 0) == !isOther)
        }
    }

    @Test("No query and no header field is written to disk")
    func secrets() async throws {
        let files = SimulatedFileSystem()
        let origin = RangeOrigin(Self.content, seed: 4, rate: 1, faults: [.brokenBody])
        await #expect(throws: TransferError.self) {
            _ = try await Fixture.download(origin, files, from: "film.mp4?key=topsecret") {
                $0.retry.policy = .never
                $0.headers = [.authorization: "Bearer topsecret"]
            }.run()
        }
        #expect(origin.requests.allSatisfy { $0.headerFields[.authorization] != nil })
        let notes = try #require(files.disk["/disk/.keel-film.mp4.download"])
        #expect(!String(decoding: notes, as: UTF8.self).contains("topsecret"))
    }

    @Test("Bytes beyond the announced length do not get into the file")
    func dropsExcess() async throws {
        let files = SimulatedFileSystem()
        let content = Array(Self.content.prefix(4000))
        let transport = ScriptedHTTPTransport([
            .chunks([content, [1, 2, 3]], headers: [.eTag: "\"a\"", .contentLength: "4000"])
        ])
        let download = try Fixture.download(transport, files)
        await expectError(TransferError.self, .invalidResponse) { _ = try await download.run() }
        #expect(try await download.run().byteCount == 4000)
        #expect(files.disk["/disk/film.mp4"] == content)
    }

    @Test(
        "The end of a part is not taken for the end of a file of unknown length",
        arguments: ["bytes */20000", nil]
    )
    func partsOfUnknownLength(end: String?) async throws {
        func part(_ range: Range<Int>) -> ScriptedHTTPTransport.Answer {
            var fields: HTTPFields = [.eTag: "\"a\""]
            fields[.contentRange] = "bytes \(range.lowerBound)-\(range.upperBound - 1)/*"
            return .chunks([Array(Self.content[range])], status: .partialContent, headers: fields)
        }
        var last = HTTPFields()
        last[.contentRange] = end
        let transport = ScriptedHTTPTransport([
            .chunks(
                [Array(Self.content[..<4000])],
                headers: [.eTag: "\"a\""],
                thenThrow: TransportError(.connectionLost)
            ),
            part(4000..<9000), part(9000..<20_000),
            .status(.rangeNotSatisfiable, headers: last),
        ])
        let files = SimulatedFileSystem()
        let receipt = try await Fixture.download(transport, files).run()
        #expect(files.disk["/disk/film.mp4"] == Self.content)
        #expect(receipt.restarts == 0)
        let ranges = transport.calls.map { $0.head.headerFields[.range] }
        #expect(ranges == [nil, "bytes=4000-", "bytes=9000-", "bytes=20000-"])
    }

    @Test("A part may claim to end at the largest position")
    func longestPart() async throws {
        var (claim, rest): (HTTPFields, HTTPFields) = ([.eTag: "\"a\""], [.eTag: "\"a\""])
        claim[.contentRange] = "bytes 4000-\(Int64.max)/*"
        rest[.contentRange] = "bytes 9000-19999/20000"
        let transport = ScriptedHTTPTransport([
            .chunks(
                [Array(Self.content[..<4000])],
                headers: [.eTag: "\"a\""],
                thenThrow: TransportError(.connectionLost)
            ),
            .chunks([Array(Self.content[4000..<9000])], status: .partialContent, headers: claim),
            .chunks([Array(Self.content[9000...])], status: .partialContent, headers: rest),
        ])
        let files = SimulatedFileSystem()
        _ = try await Fixture.download(transport, files).run()
        #expect(files.disk["/disk/film.mp4"] == Self.content)
    }

    @Test("A torn count of durable bytes loses none, even as the first after a new record")
    func tornCounts() async throws {
        let fields: HTTPFields = [.eTag: "\"a\""]
        var rangeFields = fields
        rangeFields[.contentRange] = "bytes 8000-19999/20000"
        let transport = ScriptedHTTPTransport([
            .chunks(
                [Array(Self.content[..<4000]), Array(Self.content[4000..<8000])],
                headers: fields,
                thenThrow: TransportError(.connectionLost)
            ),
            // Only this response has the length of the file, so that the record is replaced.
            .chunks([Array(Self.content[8000...])], status: .partialContent, headers: rangeFields),
        ])
        let files = SimulatedFileSystem()
        _ = try await Fixture.download(transport, files).run()
        #expect(files.disk["/disk/film.mp4"] == Self.content)
        func durable(_ disk: SimulatedDisk) async throws -> Int64 {
            let left = SimulatedFileSystem(disk)
            return try await Fixture.download(transport, left).progress()?.completedBytes ?? 0
        }
        for (count, step) in files.steps.enumerated() {
            guard case .write = step else { continue }
            let before = try await durable(files.disk(afterKillAt: count))
            let after = try await durable(files.disk(afterKillAt: count, torn: 10))
            #expect(after >= before, "step \(count)")
        }
    }

    /// Returns a server that interrupted a download and is calm since, and the files that are left.
    private static func interrupted() async throws -> (RangeOrigin, SimulatedFileSystem) {
        let files = SimulatedFileSystem()
        let origin = RangeOrigin(content, seed: 4, rate: 1, faults: [.brokenBody])
        await #expect(throws: TransferError.self) {
            _ = try await Fixture.download(origin, files) { $0.retry.policy = .never }.run()
        }
        origin.calm()
        return (origin, files)
    }

    @Test("A damaged record is not trusted")
    func damagedRecord() async throws {
        let (origin, files) = try await Self.interrupted()
        let path = "/disk/.keel-film.mp4.download"
        let notes = try #require(files.disk[path])
        for position in 0..<200 where position < notes.count {
            var disk = files.disk
            var bytes = notes
            bytes[position] ^= 0x10
            disk[path] = bytes
            let left = SimulatedFileSystem(disk)
            _ = try await Fixture.download(origin, left).run()
            #expect(left.disk["/disk/film.mp4"] == Self.content, "byte \(position)")
        }
    }

    @Test("A truncated partial file is not trusted")
    func cutPart() async throws {
        let (origin, files) = try await Self.interrupted()
        files.disk["/disk/.keel-film.mp4.part"]?.removeLast()
        let events = Events()
        _ = try await Fixture.download(origin, files).run(observer: events.observer)
        #expect(events.restarts == [.unusableRecord])
        #expect(files.disk["/disk/film.mp4"] == Self.content)
    }

    @Test("A Retry-After pause is respected, and one that is too long ends the run")
    func retryAfter() async throws {
        func answers(_ seconds: String) -> [ScriptedHTTPTransport.Answer] {
            [.status(.serviceUnavailable, headers: [.retryAfter: seconds]), Self.whole([:])]
        }
        let events = Events()
        let patient = ScriptedHTTPTransport(answers("90"))
        _ = try await Fixture.download(patient, SimulatedFileSystem())
            .run(observer: events.observer)
        #expect(events.pauses == [.seconds(90)])
        await expectError(TransferError.self, .unavailable) {
            let transport = ScriptedHTTPTransport(answers("121"))
            _ = try await Fixture.download(transport, SimulatedFileSystem()).run()
        }
    }

    @Test("A rejected request keeps the partial file until it is discarded")
    func refusal() async throws {
        let files = SimulatedFileSystem()
        let tag: HTTPFields = [.eTag: #""a""#]
        let transport = ScriptedHTTPTransport([Self.whole(tag, cutAt: 9000), .status(.forbidden)])
        let error = await expectError(TransferError.self, .refused) {
            _ = try await Fixture.download(transport, files).run()
        }
        #expect(error?.status == .forbidden)
        #expect(error?.completedBytes == 9000)
        #expect(try await Fixture.download(transport, files).progress()?.completedBytes == 9000)
        try await Fixture.download(transport, files).discard()
        #expect(files.disk.paths.isEmpty)
    }

    #if Crypto
    @Test("A digest is verified over all bytes, including those of an earlier run")
    func digest() async throws {
        var digest = PlainSHA256()
        Self.content.withUnsafeBytes { digest.update($0) }
        let right = digest.finish()
        let (origin, files) = try await Self.interrupted()
        let disk = files.disk
        let good = SimulatedFileSystem(disk)
        let receipt = try await Fixture.download(origin, good) {
            $0.expectedDigest = .sha256(right)
        }.run()
        #expect(receipt.resumedBytes > 0)
        #expect(good.disk["/disk/film.mp4"] == Self.content)
        // A changed byte of the part on disk is detected, and nothing of the part remains.
        let bad = SimulatedFileSystem(disk)
        bad.disk["/disk/.keel-film.mp4.part"]?[0] ^= 1
        await expectError(TransferError.self, .digestMismatch) {
            _ = try await Fixture.download(origin, bad) { $0.expectedDigest = .sha256(right) }.run()
        }
        #expect(bad.disk.paths.isEmpty)
    }
    #endif

    @Test("The client's header fields go only to the origin of its base URL")
    func foreignOrigin() async throws {
        for (address, isHome) in [
            ("film.mp4", true), ("https://elsewhere.example/film.mp4", false),
        ] {
            let transport = ScriptedHTTPTransport([Self.whole([:])])
            var configuration = NetworkClient.Configuration(baseURL: try #require(Fixture.base))
            configuration.defaultHeaders = [.authorization: "Bearer mine"]
            configuration.clock = ImmediateClock()
            configuration.timeout = nil
            let files = SimulatedFileSystem()
            let download = ResumableDownload(
                from: try Fixture.url(address),
                to: Fixture.file,
                through: NetworkClient(configuration, transport: transport),
                configuration: ResumableDownload.Configuration(),
                files: files,
                shared: files
            )
            _ = try await download.run()
            let head = try #require(transport.calls.first?.head)
            #expect((head.headerFields[.authorization] != nil) == isHome)
            #expect(head.authority == (isHome ? "files.example" : "elsewhere.example"))
            #expect(head.path == (isHome ? "/v1/film.mp4" : "/film.mp4"))
        }
    }

    @Test("Every code has advice and a unique name")
    func codes() {
        let known = TransferError.Code.known
        #expect(Set(known.map(\.name)).count == known.count)
        for code in known {
            #expect(code.advice.hasSuffix("."))
            #expect(!TransferError(code).message.isEmpty)
        }
    }
}
