#if canImport(SwiftUI)
internal import RestaurantsDomain
public import RestaurantsUI
public import SwiftUI

/// The search.
public struct SearchScreen: View {
    @State private var model: SearchModel
    private let session: SessionModel

    /// Creates the search of the signed-in user.
    ///
    /// - Parameters:
    ///   - session: The session of the user.
    ///   - pause: The time without typing after which the search starts.
    public init(_ session: SessionModel, pause: Duration = .milliseconds(300)) {
        self.session = session
        _model = State(initialValue: SearchModel(session, pause: pause))
    }

    public var body: some View {
        NavigationStack {
            found
                .navigationTitle("Search")
                .navigationDestination(for: RestaurantID.self) { id in
                    RestaurantDetailScreen(id, session)
                }
        }
        .searchable(text: $model.words)
        // A change of the words cancels the previous search.
        .task(id: model.words) { await model.search() }
    }

    @ViewBuilder private var found: some View {
        if let content = model.content {
            ContentView(
                content: content,
                emptyText: "No restaurant has all of these words.",
                retry: model.retry
            ) { rows in
                List(rows) { row in
                    NavigationLink(value: row.id) { RestaurantRowView(row: row) }
                }
            }
        } else {
            Text("Search by name, cuisine or street.").foregroundStyle(.secondary)
        }
    }
}
#endif
