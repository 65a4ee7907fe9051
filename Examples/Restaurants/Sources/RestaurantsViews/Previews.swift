#if canImport(SwiftUI)
internal import RestaurantsDomain
internal import RestaurantsUI
internal import SwiftUI

// In previews, the dependency `restaurants` provides samples.

struct RestaurantsPreviews: PreviewProvider {
    static var previews: some View { RestaurantsView() }
}

struct RestaurantRowPreviews: PreviewProvider {
    static var previews: some View {
        List(Restaurant.samples) { restaurant in
            RestaurantRowView(row: RestaurantRow(restaurant, metres: 230, isFavourite: true))
        }
    }
}
#endif
