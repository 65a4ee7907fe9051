#if Observability
import InMemoryLogging
import InMemoryTracing
import KeelCore
import KeelStorage
import KeelStorageAdapting
import KeelStorageObservability
import KeelTestKit
import Logging
import Metrics
import MetricsTestKit
import Testing
import Tracing

@Suite("Observed storage adapters", .timeLimit(.minutes(10)))
struct ObservedStorageAdapterTests {
    let logs = InMemoryLogHandler()
    let metrics = TestMetrics()
    let tracer = InMemoryTracer()
    let clock = TestClock()
    let path: DocumentPath = "users/ada@example.org/notes/secret-plan"

    func observe<Upstream: StorageAdapter>(
        _ upstream: Upstream,
        includesMessages: Bool = false
    ) -> ObservedStorageAdapter<Upstream> {
        var logger = Logger(label: "test") { _ in logs }
        logger.logLevel = .trace
        return upstream.observed(
            label: "main",
            logger: logger,
            metrics: metrics,
            tracer: tracer,
            clock: clock,
            includesMessages: includesMessages
        )
    }

    @Test("A successful call is logged at debug, with collection and counts")
    func logsSuccess() async throws {
        let storage = observe(InMemoryStorageAdapter())
        _ = try await storage.commit([WriteBatch([try .set(["text": "my diary"], at: path)])])
        _ = try await storage.read(ReadRequest(.documents([path, "users/1/notes/2"])))

        #expect(logs.entries.map(\.level) == [.debug, .debug])
        #expect(logs.entries.map { $0.metadata["storage.operation"] } == ["commit", "get"])
        #expect(logs.entries[0].metadata["storage.written"] == "1")
        #expect(logs.entries[1].metadata["storage.read"] == "1")
        #expect(logs.entries[1].metadata["storage.size"] == "2")
        for entry in logs.entries {
            #expect(entry.metadata["storage.collection"] == "users/*/notes")
        }
    }

    @Test("An id that begins with a combining mark is not logged either")
    func hidesCombiningIDs() async throws {
        let storage = observe(InMemoryStorageAdapter())
        // The mark and the slash before it are one character.
        _ = try await storage.read(ReadRequest(.documents(["users/\u{301}ada/notes/1"])))
        #expect(logs.entries.first?.metadata["storage.collection"] == "users/*/notes")
    }

    @Test("A failure is logged as a warning with its code and effect")
    func logsFailure() async {
        let storage = observe(InMemoryStorageAdapter().failing([.loseReply()]))
        _ = try? await storage.commit([WriteBatch([.delete(path)])])
        #expect(logs.entries.map(\.level) == [.warning])
        #expect(logs.entries.first?.metadata["error.code"] == "unavailable")
        #expect(logs.entries.first?.metadata["error.effect"] == "unknown")
    }

    @Test("The failure of one batch is observed although the call succeeds")
    func failedBatch() async throws {
        let storage = observe(InMemoryStorageAdapter())
        let batches = [
            WriteBatch([.delete("notes/1", if: .exists)]), WriteBatch([.delete("notes/2")]),
        ]
        _ = try await storage.commit(batches)
        #expect(logs.entries.map(\.level) == [.warning])
        let errors = try metrics.expectCounter(
            "keel_storage_errors",
            [("store", "main"), ("operation", "commit"), ("code", "documentNotFound")]
        )
        #expect(errors.totalValue == 1)
        #expect(tracer.finishedSpans.first?.status?.code == .error)
        #expect(tracer.finishedSpans.first?.attributes.get("db.operation.batch.size") == 2)
    }

    @Test("A canceled call and an empty page of changes are not logged as warnings")
    func quietOutcomes() async throws {
        let storage = observe(InMemoryStorageAdapter().failing([nil, .fail(.cancelled)]))
        _ = try await storage.changes(ChangeRequest())
        _ = try? await storage.changes(ChangeRequest())
        #expect(logs.entries.map(\.level) == [.trace, .debug])
    }

    @Test("Neither ids nor contents appear in logs, metrics or traces", arguments: [false, true])
    func noContents(includesMessages: Bool) async throws {
        let failing = InMemoryStorageAdapter().failing { [path] call in
            guard call.kind != .prepare else { return nil }
            return .failure(
                StorageError(.busy, "“\(path)” is locked", resource: path.string, cause: Secret())
            )
        }
        let storage = StorageClient(
            observe(failing, includesMessages: includesMessages),
            schema: StorageSchema(indexes: [IndexDefinition("notes", [.ascending("text")])])
        )
        _ = try? await storage.setDocument(path, ["text": "my diary"])
        _ = try? await storage.findDocument(path)
        let query = DocumentQuery(path.collection).where(.equal("text", "my diary"))
        _ = try? await storage.queryDocuments(query)
        _ = try? await storage.collections(under: path)

        let spans = tracer.finishedSpans
        #expect(spans.count == 5)
        let said = [
            "\(logs.entries)", "\(spans.map(\.operationName))", "\(spans.map(\.attributes))",
            "\(spans.flatMap(\.errors).map(\.error))", "\(spans.map(\.status))",
            "\(metrics.timers.map(\.dimensions))", "\(metrics.counters.map(\.dimensions))",
        ].joined()
        #expect(!said.contains("diary"))
        #expect(said.contains("secret-plan") == includesMessages)
        #expect(said.contains("ada@") == includesMessages)
    }

    struct Secret: Error, CustomStringConvertible { var description: String { "row 7" } }

    @Test(
        "Durations are measured on the injected clock, with one timer per operation and collection"
    )
    func timers() async throws {
        let slow = InMemoryStorageAdapter().failing(
            [.delay(.seconds(2)), .delay(.seconds(3))],
            clock: clock
        )
        let storage = observe(slow)
        for id in ["1", "2"] {
            let read = ReadRequest(.documents(["users/\(id)/notes/\(id)"]))
            _ = try await clock.run { try await storage.read(read) }
        }
        let timer = try metrics.expectTimer(
            "keel_storage_duration",
            [("store", "main"), ("operation", "get"), ("collection", "users/*/notes")]
        )
        #expect(timer.values == [2_000_000_000, 3_000_000_000])
        #expect(metrics.timers.count == 1)
    }

    @Test("Documents read and written are counted")
    func counts() async throws {
        let storage = StorageClient(observe(InMemoryStorageAdapter()))
        for id in ["1", "2", "3"] { try await storage.setDocument("notes/\(id)", [:]) }
        _ = try await storage.queryDocuments(DocumentQuery("notes").limit(to: 2))
        _ = try await storage.queryDocuments(DocumentQuery(group: "notes"))
        _ = try await storage.findDocument("notes/none")
        let main = [("store", "main"), ("collection", "notes")]
        #expect(try metrics.expectCounter("keel_storage_documents_written", main).totalValue == 3)
        #expect(try metrics.expectCounter("keel_storage_documents_read", main).totalValue == 2)
        #expect(metrics.counterTotal(label: "keel_storage_documents_read") == 5)
    }

    @Test("A span has OpenTelemetry's attributes and is a child of the caller's span")
    func spans() async throws {
        let storage = StorageClient(observe(InMemoryStorageAdapter()))
        try await tracer.withSpan("caller") { _ in
            try await storage.setDocument("notes/1", [:])
            _ = try await storage.queryDocuments(DocumentQuery("notes"))
        }
        let spans = tracer.finishedSpans
        try #require(spans.count == 3)
        #expect(spans.map(\.operationName) == ["commit notes", "query notes", "caller"])
        #expect(spans[1].kind == .client)
        #expect(spans[1].attributes.get("db.system.name") == "keel")
        #expect(spans[1].attributes.get("db.namespace") == "main")
        #expect(spans[1].attributes.get("db.operation.name") == "query")
        #expect(spans[1].attributes.get("db.collection.name") == "notes")
        #expect(spans[1].attributes.get("db.response.returned_rows") == 1)
        #expect(spans[1].status == nil)
        #expect(spans[0].parentSpanID == spans[2].spanID)
    }

    @Test("A failed span contains the error and its code without the message")
    func failedSpan() async {
        let storage = observe(InMemoryStorageAdapter().failing { _ in .fail(.busy) })
        let error = await #expect(throws: StorageError.self) {
            try await storage.read(ReadRequest(.documents(["notes/1"])))
        }
        #expect(error?.message.contains("injected") == true)
        let span = tracer.finishedSpans.first
        #expect(span?.attributes.get("error.type") == "busy")
        #expect(span?.status == SpanStatus(code: .error, message: "busy"))
        #expect(span?.errors.count == 1)
        #expect((span?.errors.first?.error as? StorageError)?.message == "a storage call failed")
    }

    @Test("Without its own tracer, it uses the current one")
    func currentTracer() async throws {
        let storage = InMemoryStorageAdapter().observed(metrics: metrics)
        try await withTracer(tracer) { try await storage.prepare(StorageSchema()) }
        #expect(tracer.finishedSpans.map(\.operationName) == ["prepare"])
    }

    @Test("Outside retries, it observes one outcome; inside, each attempt")
    func placement() async throws {
        let flaky = InMemoryStorageAdapter().failing([.fail(), .fail()])
        let policy = RetryPolicy(attempts: 3, baseDelay: .zero)
        let inside = observe(flaky).retrying(policy)
        _ = try await inside.read(ReadRequest(.documents([])))
        #expect(logs.entries.map(\.level) == [.warning, .warning, .debug])

        logs.clear()
        let again = InMemoryStorageAdapter().failing([.fail(), .fail()])
        let outside = observe(again.retrying(policy))
        _ = try await outside.read(ReadRequest(.documents([])))
        #expect(logs.entries.map(\.level) == [.debug])
    }
}
#endif
