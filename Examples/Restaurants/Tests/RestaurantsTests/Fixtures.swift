import Foundation
import KeelHTTP
import KeelStorage
import KeelTestKit
import RestaurantsData
import RestaurantsDomain
import Testing

extension Restaurant {
    /// A restaurant of the tests.
    static func fixture(
        _ id: String,
        _ name: String,
        borough: String = "Harbour",
        cuisine: String = "Seafood",
        scores: [Int] = []
    ) throws -> Restaurant {
        Restaurant(
            id: try RestaurantID(id),
            name: name,
            borough: borough,
            cuisine: cuisine,
            address: Address(building: "1", street: "Quay Lane", zipCode: "H-10"),
            grades: scores.enumerated().map { index, score in
                Grade(date: day(index), mark: .a, score: score)
            }
        )
    }
}

/// A day of the tests: noon, so many days after 1 March 2026.
func day(_ number: Int) -> Date {
    Date(timeIntervalSince1970: 1_772_366_400 + 86_400 * Double(number))
}

/// Restaurants as the service writes them.
enum ServiceJSON {
    static func restaurant(
        _ id: String,
        _ name: String,
        borough: String = "Harbour",
        cuisine: String = "Seafood",
        grades: String = "[]"
    ) -> String {
        """
        {"id": "\(id)", "name": "\(name)", "borough": "\(borough)", "cuisine": "\(cuisine)",
         "address": {"building": "1", "street": "Quay Lane", "zipcode": "H-10"}, "grades": \(grades)}
        """
    }

    static func page(_ restaurants: String..., next: String? = nil) -> String {
        let rest = next.map { "\"\($0)\"" } ?? "null"
        return #"{"restaurants": [\#(restaurants.joined(separator: ","))], "next": \#(rest)}"#
    }
}

/// The data layer on a store and a service of its own.
struct Instance {
    let transport: ScriptedHTTPTransport
    let storage: StorageClient
    let restaurants: OfflineFirstRestaurantRepository
    let favourites: StoredFavouriteRepository
    let ratings: StoredRatingRepository

    init(
        _ answers: ScriptedHTTPTransport.Answer...,
        on adapter: some StorageAdapter = InMemoryStorageAdapter(),
        at now: Date = day(0)
    ) throws {
        let address = try #require(URL(string: "http://service.example"))
        transport = ScriptedHTTPTransport(answers)
        var configuration = StorageClient.Configuration(schema: .restaurants)
        // A query without its index is a mistake.
        configuration.isStrict = true
        storage = StorageClient(adapter, configuration: configuration)
        restaurants = OfflineFirstRestaurantRepository(
            api: NetworkClient(baseURL: address, transport: transport),
            storage: storage,
            now: { now }
        )
        favourites = StoredFavouriteRepository(storage: storage)
        ratings = StoredRatingRepository(storage: storage)
    }
}
