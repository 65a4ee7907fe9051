import Foundation
import HTTPTypes
import KeelCore
import KeelHTTP
import KeelHTTPTransfers
import KeelTestKit
import KeelTestSupport
import Synchronization
import Testing

@Suite("Resumable uploads")
struct UploadTests {
    private static let content = Fixture.bytes(10_000)

    private static func field(_ head: HTTPRequest?, _ name: String) -> String? {
        head?.headerFields[.named(name)]
    }

    @Test("Requests follow version 6 of the IETF protocol")
    func ietfRequests() async throws {
        let origin = UploadOrigin(tus: false)
        let files = try UploadSimulationTests.disk(Self.content)
        _ = try await UploadSimulationTests.upload(origin, files).run()
        let requests = origin.requests
        #expect(requests.map(\.method) == [.options, .post, .patch, .patch, .patch])
        #expect(requests.allSatisfy { Self.field($0, "Upload-Draft-Interop-Version") == "6" })
        #expect(Self.field(requests[1], "Upload-Complete") == "?0")
        #expect(Self.field(requests[1], "Upload-Length") == "10000")
        #expect(requests[1].headerFields[.contentType] == "application/octet-stream")
        #expect(
            requests.dropFirst(2).map { Self.field($0, "Upload-Offset") } == ["0", "4000", "8000"]
        )
        #expect(
            requests.dropFirst(2).map { Self.field($0, "Upload-Complete") } == ["?0", "?0", "?1"]
        )
        #expect(
            requests.dropFirst(2).allSatisfy {
                $0.headerFields[.contentType] == "application/partial-upload"
            }
        )
        #expect(origin.finished == [Self.content])
    }

    @Test("Requests follow tus 1.0.0")
    func tusRequests() async throws {
        let origin = UploadOrigin(tus: true)
        let files = try UploadSimulationTests.disk(Self.content)
        _ = try await UploadSimulationTests.upload(origin, files).run()
        let requests = origin.requests
        #expect(requests.map(\.method) == [.options, .post, .patch, .patch, .patch])
        // The request for a server's capabilities names no version (tus 1.0.0, "OPTIONS").
        #expect(Self.field(requests[0], "Tus-Resumable") == nil)
        #expect(requests.dropFirst().allSatisfy { Self.field($0, "Tus-Resumable") == "1.0.0" })
        #expect(Self.field(requests[1], "Upload-Length") == "10000")
        #expect(Self.field(requests[1], "Upload-Metadata") == "filename ZmlsbS5tcDQ=")
        #expect(
            requests.dropFirst(2).map { Self.field($0, "Upload-Offset") } == ["0", "4000", "8000"]
        )
        #expect(
            requests.dropFirst(2).allSatisfy {
                $0.headerFields[.contentType] == "application/offset+octet-stream"
            }
        )
    }

    @Test("The server's limits are respected")
    func limits() async throws {
        let origin = UploadOrigin(tus: false)
        origin.state.withLock { $0.limit = "max-size=10000, max-append-size=3000;a=1" }
        let files = try UploadSimulationTests.disk(Self.content)
        _ = try await UploadSimulationTests.upload(origin, files).run()
        let offsets = origin.requests.dropFirst(2).map { Self.field($0, "Upload-Offset") }
        #expect(offsets == ["0", "3000", "6000", "9000"])
        let small = UploadOrigin(tus: false)
        small.state.withLock { $0.limit = "max-size=9999" }
        await expectError(TransferError.self, .tooLarge) {
            _ = try await UploadSimulationTests.upload(
                small,
                UploadSimulationTests.disk(Self.content)
            ).run()
        }
        #expect(small.requests.map(\.method) == [.options])
    }

    @Test("A server without the protocol throws an error, or gets a plain request if configured")
    func unsupported() async throws {
        for isTus in [true, false] {
            let origin = UploadOrigin(tus: isTus)
            origin.state.withLock { $0.supports = false }
            let files = try UploadSimulationTests.disk(Self.content)
            await expectError(TransferError.self, .resumptionUnsupported) {
                _ = try await UploadSimulationTests.upload(origin, files).run()
            }
            #expect(origin.requests.map(\.method) == [.options])
            let plain = try UploadSimulationTests.upload(origin, files) {
                $0.fallback = .sendPlainRequest
            }
            let receipt = try await plain.run()
            #expect(!receipt.wasResumable)
            #expect(receipt.response?.status == .created)
            #expect(origin.state.withLock { $0.plainBodies } == [Self.content])
        }
    }

    @Test("A failed plain request is not resent, because it may have been processed")
    func plainOnce() async throws {
        let origin = UploadOrigin(tus: false, seed: 1, rate: 0)
        origin.state.withLock { $0.supports = false }
        let dying = origin.failing { call in call.head.method == .post ? .loseReply() : nil }
        let files = try UploadSimulationTests.disk(Self.content)
        await expectError(TransferError.self, .connection) {
            _ = try await UploadSimulationTests.upload(dying, files, false) {
                $0.fallback = .sendPlainRequest
            }.run()
        }
        #expect(origin.state.withLock { $0.plainBodies.count } == 1)
    }

    @Test("A file that changed since its upload began is not sent", arguments: [true, false])
    func changedSource(isTus: Bool) async throws {
        for change in [[UInt8](Self.content.dropLast()), [1] + Self.content.dropFirst()] {
            let origin = UploadOrigin(tus: isTus)
            let files = try UploadSimulationTests.disk(Self.content)
            let dying = origin.failing { call in
                origin.requests.count >= 3 ? .fail(.clientShutdown) : nil
            }
            let first = try UploadSimulationTests.upload(dying, files, isTus)
            await #expect(throws: TransferError.self) { _ = try await first.run() }
            files.disk["/disk/film.mp4"] = change
            let second = try UploadSimulationTests.upload(origin, files)
            let error = await expectError(TransferError.self, .sourceChanged) {
                _ = try await second.run()
            }
            #expect(error?.recoverySuggestion?.contains("Discard") == true)
            try await second.discard()
            _ = try await second.run()
            #expect(origin.finished == [change])
        }
    }

    @Test("An upload with a lost last response is not repeated if the server has forgotten it")
    func unknownOutcome() async throws {
        let origin = UploadOrigin(tus: true)
        origin.state.withLock { $0.forgetsFinished = true }
        let dying = origin.failing { call in
            call.head.method == .patch && call.head.headerFields[.named("Upload-Offset")] == "8000"
                ? .loseReply() : nil
        }
        let files = try UploadSimulationTests.disk(Self.content)
        await expectError(TransferError.self, .outcomeUnknown) {
            _ = try await UploadSimulationTests.upload(dying, files, true).run()
        }
        #expect(origin.finished == [Self.content])
        // A later run does not guess either.
        await expectError(TransferError.self, .outcomeUnknown) {
            _ = try await UploadSimulationTests.upload(origin, files).run()
        }
        #expect(origin.finished.count == 1)
    }

    @Test("An upload that may be complete is not removed if the server does not say how it is")
    func conflictAtTheEnd() async throws {
        let version: HTTPFields = [.named("Tus-Version"): "1.0.0"]
        let created: HTTPFields = [.named("Tus-Resumable"): "1.0.0", .location: "/uploads/0"]
        let transport = ScriptedHTTPTransport(
            [
                .status(.noContent, headers: version), .status(.created, headers: created),
                .failure(TransportError(.connectionLost)), .status(.conflict), .status(.conflict),
            ],
            then: .status(.noContent)
        )
        let files = try UploadSimulationTests.disk(Self.content)
        let upload = try UploadSimulationTests.upload(transport, files, true) {
            $0.pieceByteCount = Self.content.count
        }
        await expectError(TransferError.self, .outcomeUnknown) { _ = try await upload.run() }
        #expect(transport.calls.map(\.head.method) == [.options, .post, .patch, .head, .head])
    }

    @Test("An upload to a server that loses its bytes again and again ends")
    func forgetfulServer() async throws {
        let count = Counter()
        let transport = ScriptedHTTPTransport(
            then: .init { call async throws(TransportError) in
                guard count.next() <= 100 else { throw TransportError(.clientShutdown) }
                var head = HTTPResponse(status: .noContent)
                head.headerFields[.named("Tus-Resumable")] = "1.0.0"
                switch call.head.method {
                case .post:
                    head.status = .created
                    head.headerFields[.location] = "/uploads/0"
                case .head: head.headerFields[.named("Upload-Offset")] = "0"
                case .patch where Self.field(call.head, "Upload-Offset") == "0":
                    head.headerFields[.named("Upload-Offset")] = "4000"
                case .patch: head.status = .conflict
                default: break
                }
                return HTTPReply(head: head)
            }
        )
        let files = try UploadSimulationTests.disk(Self.content)
        await expectError(TransferError.self, .expired) {
            _ = try await UploadSimulationTests.upload(transport, files, true).run()
        }
        #expect(transport.calls.filter { $0.head.method == .delete }.count == 4)
    }

    @Test("Discarding an upload does not remove a completed file", arguments: [true, false])
    func discardsCompleteUpload(isTus: Bool) async throws {
        let origin = UploadOrigin(tus: isTus)
        let lost = Mutex(false)
        let dying = origin.failing { call in
            let isLast =
                call.head.method == .patch
                && call.head.headerFields[.named("Upload-Offset")] == "8000"
            if isLast { lost.withLock { $0 = true } }
            guard lost.withLock({ $0 }) else { return nil }
            return isLast ? .loseReply() : .fail(.connectionRefused)
        }
        let files = try UploadSimulationTests.disk(Self.content)
        let upload = try UploadSimulationTests.upload(dying, files, isTus) {
            $0.retry.policy = .never
        }
        await #expect(throws: TransferError.self) { _ = try await upload.run() }
        #expect(origin.finished == [Self.content])
        try await UploadSimulationTests.upload(origin, files, isTus).discard()
        #expect(!origin.requests.contains { $0.method == .delete })
        #expect(files.disk.paths.keys.sorted() == ["/disk/film.mp4"])
    }

    @Test("An upload that an earlier run has completed is resumed", arguments: [true, false])
    func resumesCompleteUpload(isTus: Bool) async throws {
        let origin = UploadOrigin(tus: isTus)
        let dying = origin.failing { call in
            call.head.method == .patch && call.head.headerFields[.named("Upload-Offset")] == "8000"
                ? .loseReply() : nil
        }
        let files = try UploadSimulationTests.disk(Self.content)
        let first = try UploadSimulationTests.upload(dying, files, isTus) {
            $0.retry.policy = .never
        }
        await #expect(throws: TransferError.self) { _ = try await first.run() }
        #expect(origin.finished == [Self.content])
        let events = Events()
        let second = try UploadSimulationTests.upload(origin, files)
        let receipt = try await second.run(observer: events.observer)
        #expect(receipt.resumedBytes == 10_000)
        #expect(events.resumptions == [10_000])
    }

    @Test("A record that cannot be written ends an upload with the number of its safe bytes")
    func failingRecord() async throws {
        let origin = UploadOrigin(tus: true)
        let files = try UploadSimulationTests.disk(Self.content)
        // Before the last piece, the record is written again.
        files.fail { call in
            origin.requests.count == 4 && call.path.hasSuffix(".upload-new")
                ? FileSystemError.inputOutput : nil
        }
        let upload = try UploadSimulationTests.upload(origin, files)
        let error = await expectError(TransferError.self, .fileSystem) {
            _ = try await upload.run()
        }
        #expect(error?.completedBytes == 8000)
    }

    @Test("A second upload of a file to the same URL is rejected")
    func locked() async throws {
        let origin = UploadOrigin(tus: true)
        let files = try UploadSimulationTests.disk(Self.content)
        let second = try UploadSimulationTests.upload(origin, files)
        // During one upload, another one requests the lock.
        let watching = origin.failing { call in
            let isLocked = files.disk.paths.keys.contains { $0.hasSuffix(".upload-lock") }
            #expect(isLocked, "\(call.head.method)")
            return nil
        }
        _ = try await UploadSimulationTests.upload(watching, files, true).run()
        let path = "/disk/.keel-film.mp4"
        let names = files.steps.compactMap { step -> String? in
            if case .create(_, let name) = step, name.hasSuffix("-lock") { name } else { nil }
        }
        let name = try #require(names.first)
        #expect(name.hasPrefix(path))
        let lock = try files.lock(name)
        await expectError(TransferError.self, .inUse) { _ = try await second.run() }
        withExtendedLifetime(lock) {}
    }

    /// Signs calls for a user.
    private struct Signing: HTTPAuthorizing {
        let identity: String?
        var addsAuthorization = true

        func intercept(_ call: HTTPCall, next: HTTPNext) async throws(TransportError) -> HTTPReply {
            try await next(call)
        }
    }

    private func upload(
        signedBy layer: any HTTPMiddleware,
        _ transport: any HTTPTransport,
        _ files: SimulatedFileSystem,
        to address: String = "uploads"
    ) throws -> ResumableUpload {
        var settings = try Fixture.client(transport).configuration
        settings.attemptMiddleware = [layer]
        var configuration = ResumableUpload.Configuration()
        configuration.pieceByteCount = 4000
        return ResumableUpload(
            of: Fixture.file,
            to: try Fixture.url(address),
            through: NetworkClient(settings, transport: transport),
            protocol: .tus,
            configuration: configuration,
            files: files
        )
    }

    @Test("An interrupted upload is resumed for its user, and not for another one")
    func users() async throws {
        let (ann, ben) = (Signing(identity: "ann"), Signing(identity: "ben"))
        let origin = UploadOrigin(tus: true)
        let files = try UploadSimulationTests.disk(Self.content)
        let dying = origin.failing { _ in
            origin.requests.count >= 3 ? .fail(.clientShutdown) : nil
        }
        await #expect(throws: TransferError.self) {
            _ = try await upload(signedBy: ann, dying, files).run()
        }
        #expect(try await upload(signedBy: ben, origin, files).run().resumedBytes == 0)
        #expect(origin.finished == [Self.content])
        #expect(try await upload(signedBy: ann, origin, files).run().resumedBytes == 4000)
        #expect(origin.finished == [Self.content, Self.content])
        #expect(origin.requests.filter { $0.method == .post }.count == 2)
    }

    @Test(
        "An interrupted upload is resumed at its own query, with another signature",
        arguments: [
            ("uploads?album=1", "uploads?album=1", true),
            ("uploads?album=1", "uploads?album=2", false),
            ("uploads", "uploads?album=1", false),
            (
                "uploads?X-Amz-Date=1&album=1&X-Amz-Signature=a",
                "uploads?X-Amz-Date=2&album=1&X-Amz-Signature=b", true
            ),
            (
                "uploads?Policy=1&Signature=a&Key-Pair-Id=k",
                "uploads?Policy=2&Signature=b&Key-Pair-Id=k", true
            ),
        ]
    )
    func queries(first: String, second: String, isResumed: Bool) async throws {
        let origin = UploadOrigin(tus: true)
        let files = try UploadSimulationTests.disk(Self.content)
        let dying = origin.failing { _ in
            origin.requests.count >= 3 ? .fail(.clientShutdown) : nil
        }
        let layer = Signing(identity: "ann")
        await #expect(throws: TransferError.self) {
            _ = try await upload(signedBy: layer, dying, files, to: first).run()
        }
        let receipt = try await upload(signedBy: layer, origin, files, to: second).run()
        #expect(receipt.resumedBytes == (isResumed ? 4000 : 0))
        #expect(origin.finished == [Self.content])
    }

    @Test("An interrupted upload is resumed with a new cookie jar")
    func newJar() async throws {
        let origin = UploadOrigin(tus: true)
        let files = try UploadSimulationTests.disk(Self.content)
        let dying = origin.failing { _ in
            origin.requests.count >= 3 ? .fail(.clientShutdown) : nil
        }
        let jars = ["one", "two"].map { Signing(identity: $0, addsAuthorization: false) }
        await #expect(throws: TransferError.self) {
            _ = try await upload(signedBy: jars[0], dying, files).run()
        }
        #expect(try await upload(signedBy: jars[1], origin, files).run().resumedBytes == 4000)
        #expect(origin.finished == [Self.content])
    }

    /// Signs for a user who has signed in since the first one was asked for.
    private final class Switching: HTTPAuthorizing {
        private let name = Mutex("ann")
        var identity: String? { name.withLock { $0 } }

        func intercept(_ call: HTTPCall, next: HTTPNext) async throws(TransportError) -> HTTPReply {
            name.withLock { $0 = "ben" }
            return try await next(call)
        }
    }

    @Test("An upload ends if another user signs in before its first request is signed")
    func userChangedAtStart() async throws {
        let origin = UploadOrigin(tus: true)
        let files = try UploadSimulationTests.disk(Self.content)
        let error = await #expect(throws: TransferError.self) {
            _ = try await upload(signedBy: Switching(), origin, files).run()
        }
        #expect((error?.cause as? TransportError)?.code == .credentialsUnavailable)
        #expect(origin.requests.map(\.method) == [.options])
    }

    @Test("An upload ends if its first request was sent for a passing user")
    func passingUser() async throws {
        let origin = UploadOrigin(tus: true)
        let files = try UploadSimulationTests.disk(Self.content)
        let error = await #expect(throws: TransferError.self) {
            _ = try await upload(signedBy: PassingUser(), origin, files).run()
        }
        #expect((error?.cause as? TransportError)?.code == .credentialsUnavailable)
        #expect(origin.requests.map(\.method) == [.options])
    }

    @Test("Credentials do not follow an upload to another origin")
    func foreignUploads() async throws {
        let origin = UploadOrigin(tus: true)
        origin.state.withLock { $0.location = "https://store.example/uploads/" }
        let files = try UploadSimulationTests.disk(Self.content)
        let upload = try UploadSimulationTests.upload(origin, files) {
            $0.headers = [.authorization: "Bearer mine"]
        }
        await #expect(throws: TransferError.self) { _ = try await upload.run() }
        for head in origin.requests {
            let isHome = head.authority == "files.example"
            #expect((head.headerFields[.authorization] != nil) == isHome)
        }
        #expect(origin.requests.contains { $0.authority == "store.example" })
    }

    @Test("An upload that leads from https to http is rejected")
    func downgrade() async throws {
        let origin = UploadOrigin(tus: true)
        origin.state.withLock { $0.location = "http://files.example/uploads/" }
        let files = try UploadSimulationTests.disk(Self.content)
        await expectError(TransferError.self, .exchange) {
            _ = try await UploadSimulationTests.upload(origin, files).run()
        }
        #expect(!origin.requests.contains { $0.scheme == "http" })
    }
}
