import KeelCore
import KeelStorage
import Testing

extension StorageAdapterCheck {
    package static let errors: [Self] = [
        Self(.errors, "a missing document’s error names the document and the call") { store in
            let error = await store.expect(.documentNotFound) { _ = try await store.document() }
            #expect(error?.resource == store.path().string)
            #expect(error?.operation == "getDocument")
            #expect(error?.message.contains(store.path().string) == true)
        },
        Self(.errors, "a rejected update’s error names the document and the call") { store in
            let error = await store.expect(.documentNotFound) {
                try await store.update("d", .put("a", 1))
            }
            #expect(error?.resource == store.path().string)
            #expect(error?.operation == "updateDocument")
        },
        Self(.errors, "a rejected batch’s error names the document that caused it") { store in
            try await store.set(["n": 1], "b")
            let error = await store.expect(.alreadyExists) {
                try await store.commit(
                    .set(["n": 1], at: store.path("a")),
                    .set(["n": 1], at: store.path("b"), if: .isMissing)
                )
            }
            #expect(error?.resource == store.path("b").string)
        },
        Self(.errors, "a conflict is not transient: the same call fails again") {
            store async throws in
            try await store.set(["n": 1])
            let stale = Revision(number: 1)
            for _ in 0..<2 {
                let error = await store.expect(.conflict) {
                    try await store.client.setDocument(
                        store.path(),
                        ["n": 2],
                        if: .revision(stale)
                    )
                }
                #expect(error?.isTransient == false)
            }
        },
        Self(.errors, "error messages do not contain document contents") { store async throws in
            for error in await refusals(of: store) {
                #expect(!error.description.contains("s3cret"), "\(error)")
            }
        },
        Self(.errors, "every error has a known code and a recovery suggestion") {
            store async throws in
            for error in await refusals(of: store) {
                #expect(StorageError.Code.known.contains(error.code))
                #expect(error.recoverySuggestion?.isEmpty == false)
            }
        },
        Self(.errors, "a canceled call takes effect completely or throws cancelled") { store in
            let task = Task {
                withUnsafeCurrentTask { $0?.cancel() }
                try await store.commit(
                    .set(["n": 1], at: store.path("a")),
                    .set(["n": 1], at: store.path("b"))
                )
            }
            do {
                try await task.value
                #expect(try await store.ids(store.query) == ["a", "b"])
            } catch let error as StorageError {
                #expect(error.code == .cancelled)
                let found = try await store.ids(store.query)
                #expect(found.isEmpty || error.effect == .unknown && found.count == 2)
            }
        },
        Self(.errors, "a canceled read succeeds or throws cancelled") { store in
            try await store.set(["n": 1])
            let task = Task {
                withUnsafeCurrentTask { $0?.cancel() }
                return try await store.client.queryDocuments(store.query)
            }
            do {
                #expect(try await task.value.count == 1)
            } catch let error as StorageError {
                #expect(error.code == .cancelled)
            }
        },
        Self(.errors, "the store works as before after errors of every kind") { store in
            _ = await refusals(of: store)
            try await store.set(["n": 1], "after")
            #expect(try await store.fields("after") == ["n": 1])
            #expect(try await store.fields("there")?["text"] == "s3cret")
        },
    ]

    private static func refusals(of store: StoreUnderTest) async -> [StorageError] {
        let secret: DocumentFields = ["text": "s3cret"]
        let client = store.client
        let calls: [@Sendable () async throws -> Void] = [
            { try await client.createDocument(store.path("there"), secret) },
            { try await client.updateDocument(store.path("missing"), [.put("text", "s3cret")]) },
            { try await client.setDocument(store.path("there"), secret, if: .isMissing) },
            {
                try await client.setDocument(
                    store.path("there"),
                    secret,
                    if: .revision(Revision(number: 1))
                )
            },
            { try await client.setDocument(store.path("bad"), ["text": [["s3cret"]]]) },
            { try await client.setDocument(store.path("bad"), ["text": ["": "s3cret"]]) },
            {
                let change = FieldChange.compute("n", .increment("s3cret"))
                try await client.updateDocument(store.path("there"), [change])
            },
            { _ = try await store.ids(store.query.where(.equal(.documentID, ["s3cret": 1]))) },
            { _ = try await store.ids(store.query.where(.in("a", []))) },
            { _ = try await store.ids(store.query.matching("s3cret", in: "undeclared")) },
            {
                let large = DocumentValue.string(String(repeating: "s3cret", count: 200_000))
                try await client.setDocument(store.path("bad"), ["text": large])
            },
        ]
        var errors: [StorageError] = []
        do {
            try await store.set(secret, "there")
        } catch {
            Issue.record(error)
        }
        for call in calls {
            do {
                try await call()
                Issue.record("a call that must fail succeeded")
            } catch let error as StorageError {
                errors.append(error)
            } catch {
                Issue.record(error, "every error is a StorageError")
            }
        }
        return errors
    }
}
