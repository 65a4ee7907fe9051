import KeelStorage
import Testing

extension StorageAdapterCheck {
    package static let conditions: [Self] =
        ConditionedWrite.allCases.flatMap { write in
            Expectation.allCases.flatMap { expectation in
                [held(expectation, by: write), missed(expectation, by: write)]
            }
        } + staleness

    enum ConditionedWrite: String, CaseIterable {
        case set, update, delete, verify

        func callAsFunction(_ path: DocumentPath, if condition: WriteCondition) throws
            -> DocumentWrite
        {
            switch self {
            case .set: try .set(["new": 1], at: path, if: condition)
            case .update: .update(path, [.put("new", 1)], if: condition)
            case .delete: .delete(path, if: condition)
            case .verify: DocumentWrite(path, .verify, if: condition)
            }
        }

        func result(on old: DocumentFields?) -> DocumentFields? {
            switch self {
            case .set: ["new": 1]
            case .update: old == nil ? ["new": 1] : ["old": 1, "new": 1]
            case .delete: nil
            case .verify: old
            }
        }
    }

    enum Expectation: String, CaseIterable {
        case existence = "the document exists"
        case absence = "the document is missing"
        case revision = "the document has the expected revision"
        case updateTime = "the document has the expected update time"
    }

    private static func held(_ expectation: Expectation, by write: ConditionedWrite) -> Self {
        Self(.conditions, "\(write) takes effect if \(expectation.rawValue)") {
            store in
            let old: DocumentFields? = expectation == .absence ? nil : ["old": 1]
            if let old { try await store.set(old) }
            let condition: WriteCondition =
                switch expectation {
                case .existence: .exists
                case .absence: .isMissing
                case .revision: .revision(try await store.document().revision)
                case .updateTime: .updateTime(try await store.document().updateTime)
                }
            try await store.commit(write(store.path(), if: condition))
            #expect(try await store.fields() == write.result(on: old))
        }
    }

    private static func missed(_ expectation: Expectation, by write: ConditionedWrite) -> Self {
        Self(.conditions, "\(write) is rejected unless \(expectation.rawValue)") { store in
            let condition: WriteCondition
            let code: StorageError.Code
            switch expectation {
            case .existence:
                (condition, code) = (.exists, .documentNotFound)
            case .absence:
                try await store.set(["old": 1])
                (condition, code) = (.isMissing, .alreadyExists)
            case .revision, .updateTime:
                try await store.set(["old": 0])
                let stale = try await store.document()
                try await store.set(["old": 1])
                condition =
                    expectation == .revision
                    ? .revision(stale.revision) : .updateTime(stale.updateTime)
                code = .conflict
            }
            let before = try await store.client.findDocument(store.path())
            await store.expect(code) { try await store.commit(write(store.path(), if: condition)) }
            #expect(try await store.client.findDocument(store.path()) == before)
        }
    }

    private static let staleness: [Self] = [
        Self(.conditions, "an update time later than the document’s is a conflict") { store in
            try await store.set(["a": 1])
            let current = try await store.document().updateTime
            let later = Timestamp(microseconds: current.microseconds + 3_600_000_000)
            await store.expect(.conflict) {
                try await store.client.deleteDocument(store.path(), if: .updateTime(later))
            }
            #expect(try await store.fields() == ["a": 1])
        },
        Self(.conditions, "a revision condition fails after the document is deleted") { store in
            let revision = try #require(try await store.set(["a": 1]).revision)
            try await store.client.deleteDocument(store.path())
            await store.expect(.conflict) {
                try await store.client.setDocument(store.path(), ["a": 2], if: .revision(revision))
            }
            #expect(try await store.fields() == nil)
        },
        Self(.conditions, "a revision condition fails for an equal document created later") {
            store in
            let revision = try #require(try await store.set(["a": 1]).revision)
            try await store.client.deleteDocument(store.path())
            try await store.set(["a": 1])
            await store.expect(.conflict) {
                try await store.client.deleteDocument(store.path(), if: .revision(revision))
            }
            #expect(try await store.fields() == ["a": 1])
        },
        Self(.conditions, "a revision condition holds after a write that changes nothing") {
            store in
            let revision = try #require(try await store.set(["a": 1]).revision)
            try await store.set(["a": 1])
            try await store.client.setDocument(store.path(), ["a": 2], if: .revision(revision))
            #expect(try await store.fields() == ["a": 2])
        },
        Self(.conditions, "a write may require the revision returned by the previous write") {
            store in
            var revision = try #require(try await store.set(["n": 0]).revision)
            for number in 1...5 {
                let receipt = try await store.client.setDocument(
                    store.path(),
                    ["n": .integer(Int64(number))],
                    if: .revision(revision)
                )
                revision = try #require(receipt.revision)
            }
            #expect(try await store.fields() == ["n": 5])
        },
        Self(.conditions, "a failed verification prevents the writes to other documents") { store in
            try await store.set(["n": 1], "guard")
            await store.expect(.alreadyExists) {
                try await store.commit(
                    .set(["n": 2], at: store.path("other")),
                    DocumentWrite(store.path("guard"), .verify, if: .isMissing)
                )
            }
            #expect(try await store.ids(store.query) == ["guard"])
        },
        Self(.conditions, "the error names the document") { store in
            let error = await store.expect(.documentNotFound) {
                try await store.commit(.delete(store.path(), if: .exists))
            }
            #expect(error?.resource == store.path().string)
        },
    ]
}
