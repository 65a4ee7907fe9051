#if canImport(SwiftUI)
internal import RestaurantsDomain
internal import RestaurantsUI
internal import SwiftUI

/// A restaurant in a list.
struct RestaurantRowView: View {
    let row: RestaurantRow

    var body: some View {
        HStack {
            VStack(alignment: .leading) {
                Text(row.restaurant.name).font(.headline)
                Text(row.summary).font(.subheadline).foregroundStyle(.secondary)
            }
            Spacer()
            if row.isFavourite {
                Image(systemName: "heart.fill").accessibilityLabel("Favourite")
            }
        }
    }
}
#endif
