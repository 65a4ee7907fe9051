import Dispatch
import KeelDependencies
import KeelDependenciesTesting
import Testing

// The examples of the comments in KeelDependencies.

struct Restaurant: Identifiable, Sendable {
    var id: String
    var name: String
}

struct RestaurantRepository: Sendable {
    var restaurants: [Restaurant] = []

    static let live = RestaurantRepository()
    static let unavailable = RestaurantRepository()
    static let fixtures = RestaurantRepository(
        restaurants: ["Ramen Ichi", "Ramen Ni", "Luigi"].map { Restaurant(id: $0, name: $0) }
    )

    func favour(_ id: Restaurant.ID) async throws {}
}

enum RestaurantsKey: DependencyKey {
    static var liveValue: RestaurantRepository { .live }
}

extension DependencyValues {
    var restaurants: RestaurantRepository {
        get { self[RestaurantsKey.self] }
        set { self[RestaurantsKey.self] = newValue }
    }
}

enum CarefulRestaurantsKey: DependencyKey {
    static var liveValue: RestaurantRepository { .live }
    static var testValue: RestaurantRepository { unset(standIn: .unavailable) }
}

enum TimeOfDay: Sendable {
    case running, frozen
}

enum TimeOfDayKey: DependencyKey {
    static var liveValue: TimeOfDay { .running }
    static var testValue: TimeOfDay { .running }
}

extension DependencyValues {
    var clock: TimeOfDay {
        get { self[TimeOfDayKey.self] }
        set { self[TimeOfDayKey.self] = newValue }
    }
}

struct FavouriteRestaurant {
    @Dependency(\.restaurants) private var restaurants

    func callAsFunction(_ id: Restaurant.ID) async throws { try await restaurants.favour(id) }
}

struct Search {
    @Dependency(\.restaurants) private var restaurants
    @Dependency(\.clock) var clock

    func results(for text: String) -> [Restaurant] {
        restaurants.restaurants.filter { $0.name.lowercased().contains(text) }
    }

    func refresh() {}
}

@Suite(.dependencies { $0.restaurants = .fixtures })
struct SearchTests {
    @Test(.dependencies { $0.clock = .frozen }) func findsRamen() {
        #expect(Search().results(for: "ramen").count == 2)
    }
}

@Suite("Comments: dependencies")
struct DependencyCommentExamples {
    @Test("A value can be overridden for part of a program")
    func overridden() async throws {
        let found = withDependencies {
            $0.restaurants = .fixtures
        } operation: {
            Search().results(for: "ramen")
        }
        #expect(found.count == 2)
        try await withDependencies {
            $0.restaurants = .fixtures
        } operation: {
            try await FavouriteRestaurant()("1")
        }
    }

    @Test("Values can be carried to a queue")
    func carried() async {
        let queue = DispatchQueue(label: "search")
        await withCheckedContinuation { continuation in
            let values = DependencyValues.current
            queue.async {
                withDependencies(from: values) { Search().refresh() }
            }
            queue.async { continuation.resume() }
        }
    }

    /// Compiled but not run, because it would create live values.
    static func live(_ start: () -> Void) {
        withDependencies {
            $0.context = .live
        } operation: {
            start()
        }
    }
}
