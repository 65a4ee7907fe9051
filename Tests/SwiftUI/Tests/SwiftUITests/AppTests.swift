import KeelDependencies
import RestaurantsUI
import RestaurantsViews
import SwiftUI
import Testing

/// The example of the comment on `RestaurantsView`.
struct RestaurantsApp: App {
    var body: some Scene { WindowGroup { RestaurantsView() } }
}

@MainActor
@Suite("An app on the stand-in")
struct AppTests {
    @Test("The window has tabs for all screens")
    func window() {
        let outline = withDependencies {
            $0.restaurants = SampleRepositories.preview.useCases
        } operation: {
            Outline(of: RestaurantsApp())
        }
        #expect(outline.texts.contains("Restaurants") && outline.texts.contains("Favourites"))
    }
}
