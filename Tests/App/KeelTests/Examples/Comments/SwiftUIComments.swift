// The views in comments. On Linux they are only parsed, since SwiftUI is missing.

#if canImport(SwiftUI)
import Keel
import SwiftUI

@MainActor
private enum SwiftUIComments {
    typealias Restaurant = CommentExamples.Restaurant

    static let storage = StorageClient(InMemoryStorageAdapter())

    struct RestaurantList: View {
        @State var restaurants = LiveCollection(
            storage.collection("restaurants", as: Restaurant.self)
        )
        var body: some View {
            List(restaurants.items) { Text($0.name) }
                .task { await restaurants.run() }
        }
    }

    struct Note: Codable, Identifiable, Sendable {
        var id: String
        var text: String
    }

    struct NoteList: View {
        @LiveQuery("notes", as: Note.self, { $0.order(by: "text") }) var notes

        var body: some View {
            List(notes) { Text($0.text) }
        }
    }

    struct Profile: Codable, Sendable {
        var name: String
    }

    static let userID = "1"

    struct ProfileView: View {
        @State var profile = LiveDocument(storage.collection("users", as: Profile.self), id: userID)

        var body: some View {
            Text(profile.value?.name ?? "").task { await profile.run() }
        }
    }

    static func search(
        _ words: String,
        _ cursor: PageCursor?
    ) async throws(RepositoryError) -> Page<Restaurant> {
        Page([], next: nil)
    }

    static let words = "ramen"

    struct Row: View {
        let restaurant: Restaurant
        init(_ restaurant: Restaurant) { self.restaurant = restaurant }
        var body: some View { Text(restaurant.name) }
    }

    struct Results: View {
        @State var results = PagedList<Restaurant> { cursor in
            try await search(words, cursor)
        }

        var body: some View {
            List(results.items) { restaurant in
                Row(restaurant).task { await results.loadMore(whenShowing: restaurant.id) }
            }
            .task { await results.loadMore() }
        }
    }
}
#endif
