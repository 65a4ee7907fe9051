#if canImport(SwiftUI)
internal import RestaurantsUI
public import SwiftUI

/// The whole app, for the scene of an app's target.
///
/// ```swift
/// struct RestaurantsApp: App {
///     var body: some Scene { WindowGroup { RestaurantsView() } }
/// }
/// ```
public struct RestaurantsView: View {
    @State private var session = SessionModel()

    /// Creates the app's screens on the use cases of the dependency `restaurants`.
    public init() {}

    public var body: some View {
        TabView {
            RestaurantListScreen(session)
                .tabItem { Label("Restaurants", systemImage: "fork.knife") }
            SearchScreen(session)
                .tabItem { Label("Search", systemImage: "magnifyingglass") }
            FavouritesScreen(session)
                .tabItem { Label("Favourites", systemImage: "heart") }
            SignInScreen(session)
                .tabItem { Label("Account", systemImage: "person") }
        }
        .task { await session.restore() }
    }
}
#endif
