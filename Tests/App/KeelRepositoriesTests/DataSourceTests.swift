import Foundation
import HTTPTypes
import KeelHTTP
import KeelRepositories
import KeelStorage
import KeelTestKit
import KeelTestSupport
import Testing

struct Note: Codable, Sendable, Hashable, Identifiable {
    var id: String
    var text: String
    var stars: Int
}

@Suite("Data sources")
struct DataSourceTests {
    @Test("A collection accepts more elements than fit in one batch")
    func savesMany() async throws {
        let storage = StorageClient(InMemoryStorageAdapter())
        let source = CollectionDataSource(storage.collection("notes", as: Note.self))
        let notes = (1...1_200).map { Note(id: "\($0 + 10_000)", text: "", stars: 0) }
        try await source.save(notes)
        #expect(try await source.findAll().count == 1_200)
        try await source.delete(notes.map(\.id))
        #expect(try await source.findAll().isEmpty)
    }

    @Test("A store failure becomes a data source error with its cause")
    func mapsFailures() async {
        let storage = StorageClient(InMemoryStorageAdapter().failing { _ in .fail(.diskFull) })
        let source = CollectionDataSource(storage.collection("notes", as: Note.self))
        let error = await expectError(DataSourceError.self, .storageFull) {
            try await source.save(Note(id: "1", text: "", stars: 0))
        }
        #expect(error?.storageError?.code == .diskFull)
    }

    // MARK: Remote

    private struct PageDTO: Codable, Sendable {
        var items: [Int]
        var next: String?
    }

    private struct GetPage: Endpoint {
        typealias Response = PageDTO
        let after: String?
        var path: EndpointPath { "/pages/\(after ?? "first")" }
    }

    private func service(_ pages: [String: PageDTO]) throws -> TestService {
        let service = try TestService()
        service.transport.on(.get, "/v1/pages/{page}") { match in
            pages[match["page"]].map { .value($0) } ?? .status(.notFound)
        }
        return service
    }

    @Test("All pages are loaded in order")
    func loadsPages() async throws {
        let service = try service([
            "first": PageDTO(items: [1, 2], next: "b"), "b": PageDTO(items: [3], next: nil),
        ])
        let pages = try await service.remote.pages {
            GetPage(after: $0)
        } next: {
            $0.next
        }
        #expect(pages.flatMap(\.items) == [1, 2, 3])
    }

    @Test("A page cycle is an error instead of a loop")
    func refusesCircles() async throws {
        let service = try service([
            "first": PageDTO(items: [1], next: "b"), "b": PageDTO(items: [2], next: "b"),
        ])
        await expectError(DataSourceError.self, .unreadable) {
            try await service.remote.pages {
                GetPage(after: $0)
            } next: {
                $0.next
            }
        }
    }

    @Test("A response is mapped to the domain, or the invalid field is named")
    func mapsResponses() async throws {
        let service = try TestService()
        service.serve()
        service.set([.sample(1), RestaurantDTO(id: "bad")])
        let restaurant = try await service.remote.domain(GetRestaurant(id: RestaurantDTO.uuid(1)))
        #expect(restaurant.name == "Restaurant 1")
        let error = await #expect(throws: DataSourceError.self) {
            try await service.remote.domain(GetRestaurant(id: "bad"))
        }
        #expect(error?.mappingError?.field == "id")
    }
}
