#if canImport(SwiftUI)
internal import RestaurantsDomain
public import RestaurantsUI
public import SwiftUI

/// The user's favourites.
public struct FavouritesScreen: View {
    @State private var model: FavouritesModel
    private let session: SessionModel

    /// Creates the favourites of the signed-in user.
    public init(_ session: SessionModel) {
        self.session = session
        _model = State(initialValue: FavouritesModel(session))
    }

    public var body: some View {
        NavigationStack {
            ContentView(
                content: model.content,
                emptyText: "No favorites yet.",
                retry: model.load
            ) { entries in
                List {
                    NoticeView(notice: model.notice, dismiss: model.dismissNotice)
                    ForEach(entries, id: \.favourite.restaurant) { entry in
                        row(of: entry)
                    }
                }
            }
            .navigationTitle("Favourites")
            .navigationDestination(for: RestaurantID.self) { id in
                RestaurantDetailScreen(id, session)
            }
        }
        .task(id: session.userID) { await model.follow() }
    }

    private func row(of entry: FavouriteEntry) -> some View {
        NavigationLink(value: entry.favourite.restaurant) {
            if let restaurant = entry.restaurant {
                RestaurantRowView(row: RestaurantRow(restaurant, isFavourite: true))
            } else {
                Text("No longer there").foregroundStyle(.secondary)
            }
        }
        .swipeActions {
            Button("Remove", role: .destructive) {
                Task { await model.remove(entry.favourite.restaurant) }
            }
        }
    }
}
#endif
