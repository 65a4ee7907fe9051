#if canImport(SwiftUI)
internal import RestaurantsDomain
public import RestaurantsUI
public import SwiftUI

/// The list of restaurants.
public struct RestaurantListScreen: View {
    @State private var model: RestaurantListModel
    private let session: SessionModel

    /// Creates the list for the signed-in user.
    public init(_ session: SessionModel) {
        self.session = session
        _model = State(initialValue: RestaurantListModel(session))
    }

    public var body: some View {
        NavigationStack {
            ContentView(
                content: model.content,
                emptyText: "The service has no restaurants.",
                retry: model.load
            ) { rows in
                List {
                    NoticeView(notice: model.notice, dismiss: model.dismissNotice)
                    ForEach(rows) { row in
                        NavigationLink(value: row.id) { RestaurantRowView(row: row) }
                            .swipeActions {
                                Button(row.isFavourite ? "Unlike" : "Like") {
                                    Task { await model.toggleFavourite(row.id) }
                                }
                            }
                    }
                }
                .refreshable { await model.refresh() }
            }
            .navigationTitle("Restaurants")
            .navigationDestination(for: RestaurantID.self) { id in
                RestaurantDetailScreen(id, session)
            }
            .toolbar {
                Picker("Order", selection: $model.order) {
                    Text("By name").tag(RestaurantListModel.Order.name)
                    Text("Near me").tag(RestaurantListModel.Order.distance)
                }
            }
        }
        .task(id: ListKey(order: model.order, user: session.userID)) { await model.load() }
    }

    /// The values whose changes reload the list.
    private struct ListKey: Equatable {
        let order: RestaurantListModel.Order
        let user: UserID
    }
}
#endif
