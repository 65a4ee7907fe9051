import HTTPTypes
import KeelHTTP
import KeelStorage
import KeelStorageAdapting
import KeelStorageFirestore
import KeelTestKit
import Testing

@Suite("Errors over the Firestore protocol")
struct ErrorTests {
    /// An error reply, and the expected error of a read, and of a commit if it is another one.
    struct Case: CustomTestStringConvertible, Sendable {
        let code: Int
        let status: String
        var message = "what happened"
        let read: StorageError.Code
        var commit: StorageError.Code?
        var effect = StorageError.Effect.none

        var testDescription: String { "\(code) \(status) \(message)" }
    }

    @Test(
        "each status is mapped to an error code for reads and commits",
        arguments: [
            Case(code: 400, status: "INVALID_ARGUMENT", read: .invalidArgument),
            Case(code: 400, status: "FAILED_PRECONDITION", read: .conflict),
            Case(
                code: 400,
                status: "FAILED_PRECONDITION",
                message: "The query requires an index. You can create it here: https://x",
                read: .indexRequired,
                commit: .conflict
            ),
            Case(
                code: 400,
                status: "FAILED_PRECONDITION",
                message: "The requested snapshot version is too old.",
                read: .snapshotTooOld,
                commit: .conflict
            ),
            Case(
                code: 404,
                status: "NOT_FOUND",
                read: .databaseNotFound,
                commit: .documentNotFound
            ),
            Case(
                code: 404,
                status: "NOT_FOUND",
                message: "The database (default) does not exist for project p",
                read: .databaseNotFound
            ),
            Case(code: 409, status: "ALREADY_EXISTS", read: .alreadyExists),
            Case(code: 409, status: "ABORTED", read: .busy),
            Case(code: 401, status: "UNAUTHENTICATED", read: .unauthenticated),
            Case(code: 403, status: "PERMISSION_DENIED", read: .permissionDenied),
            Case(code: 429, status: "RESOURCE_EXHAUSTED", read: .unavailable, effect: .unknown),
            Case(code: 503, status: "UNAVAILABLE", read: .unavailable, effect: .unknown),
            Case(code: 504, status: "DEADLINE_EXCEEDED", read: .timeout, effect: .unknown),
            // The server has canceled the call, and not the caller.
            Case(code: 499, status: "CANCELLED", read: .unavailable, effect: .unknown),
            Case(code: 500, status: "INTERNAL", read: .unknown, effect: .unknown),
            Case(code: 501, status: "UNIMPLEMENTED", read: .unsupported),
        ]
    )
    func statuses(item: Case) async {
        let answer = ScriptedHTTPTransport.Answer.refusal(item.code, item.status, item.message)
        let scripted = Scripted.google([answer, answer])
        let error = await expect(item.read) {
            _ = try await scripted.adapter.read(ReadRequest(.documents(["a/1"])))
        }
        #expect(error?.message.contains(item.message) == true)
        await expect(item.commit ?? item.read, effect: item.effect) {
            try await scripted.commit([.delete("a/1")])
        }
    }

    @Test("an error in a list or after a successful status is thrown")
    func inList() async {
        let body = #"[{"error": {"code": 403, "status": "PERMISSION_DENIED", "message": "no"}}]"#
        let scripted = Scripted.google([.json(body, status: .forbidden), .json(body)])
        for _ in 0..<2 {
            await expect(.permissionDenied) {
                _ = try await scripted.adapter.read(ReadRequest(.query(DocumentQuery("a"))))
            }
        }
    }

    @Test("a server that refuses its client is the cause of the error")
    func refusal() async {
        let scripted = Scripted.google([.refusal(403, "PERMISSION_DENIED", "no")])
        let error = await expect(.permissionDenied) { try await scripted.commit([.delete("a/1")]) }
        #expect(error?.cause != nil)
    }

    @Test("the document in an error message becomes the error's resource")
    func resource() async {
        let name = "projects/p/databases/(default)/documents/a/1"
        let scripted = Scripted.google([
            .refusal(409, "ALREADY_EXISTS", "Document already exists: \(name)")
        ])
        let error = await expect(.alreadyExists) { try await scripted.commit([.delete("a/1")]) }
        #expect(error?.resource == "a/1")
    }

    @Test("a missing document with a revision condition is a conflict")
    func missingVersion() async {
        let missing = ScriptedHTTPTransport.Answer.refusal(404, "NOT_FOUND", "No document")
        let scripted = Scripted.google([missing, missing])
        let version = WriteCondition.revision(Revision(number: 1))
        await expect(.conflict) { try await scripted.commit([.delete("a/1", if: version)]) }
        await expect(.documentNotFound) {
            try await scripted.commit([.delete("a/1", if: version), .delete("a/2", if: .exists)])
        }
    }

    @Test(
        "a failed exchange reports whether the request may have had an effect",
        arguments: [
            (TransportError(.connectionRefused), .unavailable, .none),
            (TransportError(.offline), .unavailable, .none),
            (TransportError(.hostNotFound), .unavailable, .none),
            (TransportError(.connectTimeout), .timeout, .none),
            (TransportError(.tlsUntrusted), .unknown, .none),
            (TransportError(.connectionLost), .unavailable, .unknown),
            (TransportError(.responseTimeout), .timeout, .unknown),
            (TransportError(.streamRefused, processed: .no), .unavailable, .none),
            (TransportError(.truncatedBody), .unavailable, .unknown),
            (TransportError(.cancelled), .cancelled, .unknown),
            (TransportError(.cancelled, processed: .no), .cancelled, .none),
            (TransportError(.protocolViolation), .unknown, .unknown),
        ] as [(TransportError, StorageError.Code, StorageError.Effect)]
    )
    func exchanges(
        error: TransportError,
        code: StorageError.Code,
        effect: StorageError.Effect
    ) async {
        let scripted = Scripted.google([.failure(error), .failure(error)])
        await expect(code, effect: effect) { try await scripted.commit([.delete("a/1")]) }
        let seen = await expect(code) {
            _ = try await scripted.adapter.read(ReadRequest(.documents(["a/1"])))
        }
        #expect((seen?.cause as? TransportError)?.code == error.code)
    }

    @Test("an address without a server is distinguished from a missing document")
    func wrongAddress() async {
        let page = ScriptedHTTPTransport.Answer.status(.notFound, body: Array("<html>".utf8))
        let scripted = Scripted.google([page, page])
        let error = await expect(.unknown) {
            _ = try await scripted.adapter.read(ReadRequest(.documents(["a/1"])))
        }
        #expect(error?.message.contains("404") == true)
        await expect(.unknown, effect: .unknown) { try await scripted.commit([.delete("a/1")]) }
    }

    @Test("a proxy’s status is not a refusal of the batch", arguments: [400, 413, 414, 431, 501])
    func proxy(status: Int) async {
        let page = Array("<html>".utf8)
        let scripted = Scripted.google([.status(HTTPResponse.Status(code: status), body: page)])
        let error = await expect(.unknown, effect: .unknown) {
            try await scripted.commit([.delete("a/1")])
        }
        #expect(error?.message.contains("\(status)") == true)
    }

    @Test("an invalid address fails, and nothing is sent")
    func noAddress() async {
        let scripted = Scripted(.emulator(host: "not a host", project: "p"), [])
        await expect(.invalidArgument) { try await scripted.commit([.delete("a/1")]) }
        #expect(scripted.requests.isEmpty)
    }

    @Test("the batches of a canceled task are not sent and throw cancelled")
    func cancelled() async throws {
        let scripted = Scripted.google()
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try await scripted.adapter.commit([
                WriteBatch([.delete("a/1")]), WriteBatch([.delete("a/2")]),
            ])
        }
        for result in try await task.value {
            let error = await expect(.cancelled) { _ = try result.get() }
            #expect(error?.effect == StorageError.Effect.none)
        }
        #expect(scripted.requests.isEmpty)
    }

    @Test("every error code has advice")
    func advice() {
        for code in [StorageError.Code.databaseNotFound, .invalidReply] {
            #expect(!code.advice.isEmpty)
            #expect(!code.isTransient)
            #expect(!StorageError.Code.known.contains(code))
        }
    }
}
