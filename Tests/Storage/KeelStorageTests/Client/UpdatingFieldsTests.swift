import Foundation
import KeelStorage
import KeelTestKit
import KeelTestSupport
import Testing

@Suite("Updating an existing document from fields and values")
struct UpdatingFieldsTests {
    struct Profile: Codable, Sendable {
        @DocumentID var id: String?
        var name: String
        var photo: String?
        @ServerTimestamp var changed: Date?

        init(name: String, photo: String? = nil) {
            self.name = name
            self.photo = photo
        }
    }

    struct Patch: Encodable, Sendable {
        var name: String?
        var address: [String: String]?
    }

    let storage = StorageClient(InMemoryStorageAdapter())

    @Test("An update sets the named fields, maps entirely, and keeps the others")
    func setsFields() async throws {
        try await storage.setDocument(
            "users/1",
            ["name": "Ann", "age": 30, "address": ["city": "Oslo", "zip": "0150"]]
        )
        try await storage.updateDocument("users/1", ["age": 31, "address": ["city": "Bergen"]])
        try await storage.updateDocument("users/1", ["a.b": true])
        let fields = try await storage.getDocument("users/1").fields()
        #expect(fields == ["name": "Ann", "age": 31, "address": ["city": "Bergen"], "a.b": true])
        // A merge differs in both respects.
        try await storage.mergeDocument("users/1", ["address": ["zip": "5003"]])
        #expect(
            try await storage.getDocument("users/1").fields()["address"]
                == ["city": "Bergen", "zip": "5003"]
        )
    }

    @Test("An update from a value sets its encoded fields and omits nil")
    func setsValue() async throws {
        try await storage.setDocument("users/1", ["name": "Ann", "photo": "a.jpg", "age": 30])
        try await storage.updateDocument("users/1", from: Profile(name: "Eve"))
        var fields = try await storage.getDocument("users/1").fields()
        #expect(fields["name"] == "Eve" && fields["photo"] == "a.jpg" && fields["age"] == 30)
        #expect(fields["id"] == nil)
        guard case .timestamp? = fields["changed"]
        else { return fail("the store did not fill the time: \(fields)") }
        try await storage.updateDocument("users/1", from: Patch(address: ["city": "Oslo"]))
        fields = try await storage.getDocument("users/1").fields()
        #expect(fields["name"] == "Eve" && fields["address"] == ["city": "Oslo"])
    }

    @Test("Updating a missing document fails and does not create it")
    func refusesMissing() async throws {
        let updates: [@Sendable () async throws -> Void] = [
            { [storage] in try await storage.updateDocument("users/1", ["name": "Ann"]) },
            { [storage] in try await storage.updateDocument("users/1", from: Patch(name: "Ann")) },
        ]
        for update in updates {
            await expectError(StorageError.self, .documentNotFound) { try await update() }
        }
        #expect(try await storage.findDocument("users/1") == nil)
    }

    @Test("A revision condition is checked, and invalid fields are rejected")
    func keepsRules() async throws {
        let receipt = try await storage.setDocument("users/1", ["age": 30])
        let first = try #require(receipt.revision)
        try await storage.updateDocument("users/1", ["age": 31], if: .revision(first))
        await expectError(StorageError.self, .conflict) {
            try await storage.updateDocument("users/1", ["age": 32], if: .revision(first))
        }
        await expectError(StorageError.self, .invalidArgument) {
            try await storage.updateDocument("users/1", [:])
        }
        let noFields = await expectError(StorageError.self, .encodingFailed) {
            try await storage.updateDocument("users/1", from: 7)
        }
        #expect(noFields?.operation == "updateDocument")
        #expect(try await storage.getDocument("users/1").fields() == ["age": 31])
    }
}
