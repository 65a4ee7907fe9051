import Foundation
import HTTPTypes
import Keel
import KeelNetworkStatus
import KeelStorage
import KeelStorageAdapting
import KeelStorageSQLite
import KeelSync
import KeelTestKit
import Testing

/// Examples from the comments of KeelStorage, its SQLite adapter and KeelSync; compiled but not run, see
/// ``CommentExamples``.
extension CommentExamples {
    static func storageSchema() async throws {
        let schema = StorageSchema(indexes: [
            IndexDefinition("restaurants", [.ascending("borough"), .descending("rating")]),
            IndexDefinition("restaurants", [.contains("tags"), .ascending("name")]),
        ])
        _ = schema
    }

    static func changeScope() -> ChangeScope {
        var scope = ChangeScope.documents(["users/ada"])
        scope.formUnion(.query(DocumentQuery("notes").where(.equal("owner", "ada"))))
        return scope
    }

    static func storageClientDocuments(_ storage: StorageClient) async throws {
        try await storage.updateDocument(
            "notes/1",
            [
                .set("text", to: "Hello again"), .increment("edits", by: 1), .remove("draft"),
            ]
        )
    }

    static func storageClientUpdating(_ storage: StorageClient) async throws {
        try await storage.updateDocument("users/1", ["name": "Ann", "age": 31])
    }

    static func storageClientUpdatingFrom(_ storage: StorageClient) async throws {
        struct Profile: Encodable {
            var name: String
            var photo: String?
        }

        try await storage.updateDocument("users/1", from: Profile(name: "Ann"))
    }

    static func storageClientPointInTime(_ storage: StorageClient, _ receipt: CommitReceipt)
        async throws
    {
        let before = try storage.asOf(receipt.commitTime)
        let deleted = try await before.getDocument("notes/1")
        _ = before
        _ = deleted
    }

    static func storageClientStaleness(_ storage: StorageClient, _ query: DocumentQuery)
        async throws
    {
        let recent = storage.allowingStaleness(of: .seconds(10))
        let top = try await recent.queryDocuments(query)
        _ = recent
        _ = top
    }

    static func storageClientLimits(_ storage: StorageClient, _ query: DocumentQuery) async throws {
        let found = try await storage.limited(to: .seconds(2)).queryDocuments(query)
        _ = found
    }

    static func documentSequence(_ storage: StorageClient) async throws {
        for try await document in storage.documents(matching: DocumentQuery("notes")) {
            print(document.path)
        }
    }

    static func storageClientTransactions(_ storage: StorageClient) async throws {
        try await storage.commit { batch in
            try batch.set("accounts/1", ["balance": 0])
            batch.delete("accounts/2")
        }
    }

    static func storageClientTransactions2(_ storage: StorageClient) async throws {
        try await storage.transaction { transaction in
            let counter = try await transaction.getDocument("counters/visits")
            let count = counter["count"]?.integerValue ?? 0
            try transaction.update("counters/visits", [.set("count", to: count + 1)])
        }
    }

    static func storageClient5() async throws {
        let storage = StorageClient(InMemoryStorageAdapter())
        try await storage.setDocument("notes/1", ["text": "Hello"])
        let note = try await storage.getDocument("notes/1")
        _ = storage
        _ = note
    }

    static func documentEncoder(_ restaurant: CommentExamples.StoredRestaurant) async throws {
        struct Restaurant: Codable {
            @DocumentID var id: String?
            var name: String
            var opened: Date
            @ServerTimestamp var changed: Date?
        }
        let body = try DocumentEncoder().encode(restaurant)
        _ = body
        _ = Restaurant.self
    }

    static func vectorValue() async throws {
        struct Article: Codable {
            var title: String
            var embedding: VectorValue
        }
        let body = try DocumentEncoder().encode(Article(title: "Tea", embedding: [0.5, -1]))
        _ = body
    }

    static func documents(_ restaurant: CommentExamples.StoredRestaurant) throws {
        let query = DocumentQuery("restaurants").where(.equal("borough", "Bronx")).order(by: "name")
        let body = try DocumentEncoder().encode(restaurant)
        _ = (query, body)
    }

    static func documentID() async throws {
        struct Restaurant: Codable {
            @DocumentID var id: String?
            var name: String
        }
        _ = Restaurant.self
    }

    static func serverTimestamp() async throws {
        struct Note: Codable {
            var text: String
            @ServerTimestamp var changed: Date?
        }
        _ = Note.self
    }

    static func collectionSnapshots(_ restaurants: DocumentCollection<Restaurant>) async throws {
        for try await snapshot in restaurants.listen({ $0.order(by: "name") }) {
            show(snapshot.items)
        }
    }

    static func documentCollection(_ storage: StorageClient) async throws {
        struct Restaurant: Codable, Identifiable {
            var id: String
            var name: String
            var borough: String
        }

        let restaurants = storage.collection("restaurants", as: Restaurant.self)
        try await restaurants.save(Restaurant(id: "1", name: "Wilson's", borough: "Bronx"))
        let inTheBronx = try await restaurants.query { $0.where(.equal("borough", "Bronx")) }
        _ = restaurants
        _ = inTheBronx
    }

    static func mirroredStorageAdapter(
        _ firestore: InMemoryStorageAdapter,
        _ sqlite: InMemoryStorageAdapter,
        _ logger: Journalist
    ) async throws {
        let storage = StorageClient(
            firestore.mirrored(to: sqlite) { event in logger.warning("\(event)") }
        )
        _ = storage
    }

    static func querySnapshots(_ storage: StorageClient) async throws {
        for try await snapshot in storage.listen(to: DocumentQuery("notes").order(by: "text")) {
            show(snapshot.documents)
        }
    }

    static func documentMigration(_ adapter: InMemoryStorageAdapter) async throws {
        let migrations = DocumentMigrations([
            DocumentMigration("restaurants", to: 1) { fields, _ in
                fields["cuisines"] = .array([fields["cuisine"] ?? .null])
                fields["cuisine"] = nil
            }
        ])
        let storage = StorageClient(adapter.migrating(migrations))
        _ = migrations
        _ = storage
    }

    static func collectionPath(_ userID: String) async throws {
        let favourites: CollectionPath = "users/\(userID)/favourites"
        _ = favourites
    }

    static func documentPath(_ userID: String, _ restaurantID: String) async throws {
        let path: DocumentPath = "users/\(userID)/favourites/\(restaurantID)"
        _ = path
    }

    static func fieldPath() async throws {
        let street: FieldPath = "address.street"
        let host: FieldPath = "visits.`example.org`"
        _ = street
        _ = host
    }

    static func documentQuery() async throws {
        let query = DocumentQuery("restaurants")
            .where(.equal("borough", "Bronx"))
            .order(by: "name")
            .limit(to: 20)
        _ = query
    }

    static func documentQueryOverEverything() async throws {
        let userData = DocumentQuery.everything(under: "users/ada").limit(to: 100)
        _ = userData
    }

    static func predicateFilter(_ borough: String) async throws {
        let filter = try DocumentFilter(
            #Predicate<Restaurant> {
                $0.borough == borough && $0.rating >= 4 && $0.tags.contains("late")
            }
        )
        _ = filter
    }
}

#if SQLite
// KeelStorageSQLite
extension CommentExamples {
    static func sQLiteStorageAdapter() async throws {
        let store = StorageClient(try SQLiteStorageAdapter(at: .applicationSupport("Notes")))
        _ = store
    }

    static func dropIndexes(
        _ adapter: SQLiteStorageAdapter,
        _ declared: [StorageSchema]
    ) async throws {
        // Keeps only what this release declares.
        for index in try await adapter.indexes() where !declared.contains(index.schema) {
            try await adapter.dropIndexes(in: index.schema)
        }
    }

    static func reseal(_ adapter: SQLiteStorageAdapter) async throws {
        while try await adapter.reseal().resealed > 0 {}
    }
}
#endif

// KeelSync
extension CommentExamples {
    static func outbox(
        _ storage: StorageClient,
        _ sender: some OutboxSender,
        _ network: NetworkStatus
    ) async throws {
        let outbox = Outbox(storage)
        let receipt = try await outbox.enqueue(OutboxWrite(key: "favourites/42", kind: "PUT"))

        // Once, for as long as the app runs:
        try await outbox.run(sending: sender, whileOnline: network.onlineStates)
        _ = outbox
        _ = receipt
    }

    static func outboxAtSignOut(_ session: AuthSession<BearerCredentials>, _ outbox: Outbox) {
        session.onSignOut("outbox") { reason, user in
            if reason == .requested { try await outbox.discardAll(of: user) }
        }
    }

    static func outboxReceipt(_ outbox: Outbox, _ write: OutboxWrite) async throws {
        let receipt = try await outbox.enqueue(write)  // on disk: the user may go on
        let reply = try await receipt.server()  // taken by the server
        _ = receipt
        _ = reply
    }
}
