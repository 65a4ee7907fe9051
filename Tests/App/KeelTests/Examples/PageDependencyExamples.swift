import KeelDependencies
import KeelDependenciesTesting
import Testing

/// Examples from the page about dependencies.
@Suite("Page: dependencies")
struct PageDependencyExamples {
    struct Restaurant: Sendable {
        var name: String
    }

    struct Guide: Sendable {
        var restaurants: [Restaurant]

        static let fixtures = Guide(
            restaurants: ["Ramen Ichi", "Ramen Ni", "Luigi"].map(Restaurant.init)
        )

        func matching(_ text: String) async throws -> [Restaurant] {
            restaurants.filter { $0.name.lowercased().contains(text) }
        }
    }

    struct Store: Sendable {
        static let onDisk = Store()
    }

    struct Search {
        @Dependency(\.restaurants) private var restaurants

        func results(for text: String) async throws -> [Restaurant] {
            try await restaurants.matching(text)
        }
    }

    @Test(.dependencies { $0.restaurants = .fixtures })
    func findsRamen() async throws {
        #expect(try await Search().results(for: "ramen").count == 2)
    }

    /// A terminal app.
    enum TerminalApp {
        struct Terminal {
            func run() async throws {}
        }

        static func openStorage() async throws -> Store { Store() }

        enum Restaurants {
            static func main() async throws {
                let storage = try await openStorage()
                try await withDependencies {
                    $0.storage = storage
                } operation: {
                    try await Terminal().run()
                }
            }
        }
    }

    /// An app with windows.
    enum WindowApp {
        struct RestaurantsApp {
            static func main() {}
        }

        enum Restaurants {
            static func main() {
                withDependencies {
                    $0.storage = .onDisk
                } operation: {
                    RestaurantsApp.main()
                }
            }
        }
    }
}

extension DependencyValues {
    private enum GuideKey: DependencyKey {
        static let liveValue = PageDependencyExamples.Guide(restaurants: [])
    }

    private enum StoreKey: DependencyKey {
        static let liveValue = PageDependencyExamples.Store()
    }

    fileprivate var restaurants: PageDependencyExamples.Guide {
        get { self[GuideKey.self] }
        set { self[GuideKey.self] = newValue }
    }

    fileprivate var storage: PageDependencyExamples.Store {
        get { self[StoreKey.self] }
        set { self[StoreKey.self] = newValue }
    }
}
