#if canImport(SwiftUI)
internal import RestaurantsDomain
internal import RestaurantsUI
internal import SwiftUI

// In a preview the dependency `restaurants` has samples of its own.

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
