#if canImport(SwiftUI)
internal import Foundation
public import RestaurantsDomain
public import RestaurantsUI
public import SwiftUI

/// The details of a restaurant.
public struct RestaurantDetailScreen: View {
    @State private var model: RestaurantDetailModel

    /// Creates the details of a restaurant for the signed-in user.
    public init(_ id: RestaurantID, _ session: SessionModel) {
        _model = State(initialValue: RestaurantDetailModel(id, session))
    }

    public var body: some View {
        ContentView(
            content: model.content,
            emptyText: "There is no such restaurant.",
            retry: model.load
        ) { details in
            List {
                NoticeView(notice: model.notice, dismiss: model.dismissNotice)
                RestaurantFactsView(restaurant: details.restaurant)
                choices
                if let summary = details.summary {
                    Text("Rated by \(summary.count) users of this app")
                }
            }
            .navigationTitle(details.restaurant.name)
        }
        .task { await model.load() }
    }

    private var choices: some View {
        Section("Yours") {
            Button {
                Task { await model.toggleFavourite() }
            } label: {
                Label(
                    model.isFavourite ? "A favourite" : "Make it a favourite",
                    systemImage: model.isFavourite ? "heart.fill" : "heart"
                )
            }
            HStack {
                ForEach(Array(Stars.range), id: \.self) { count in
                    Button {
                        Task { await model.rate(count) }
                    } label: {
                        Image(systemName: count <= (model.stars ?? 0) ? "star.fill" : "star")
                            .accessibilityLabel("\(count) stars")
                    }
                }
            }
        }
    }
}

/// The known properties of a restaurant.
struct RestaurantFactsView: View {
    let restaurant: Restaurant

    var body: some View {
        Section {
            if let image = restaurant.imageURL {
                AsyncImage(url: image) { picture in
                    picture.resizable().scaledToFit()
                } placeholder: {
                    ProgressView()
                }
            }
            Text(RestaurantRow(restaurant).summary)
            Text(restaurant.address)
            if let phone = restaurant.phoneNumber, let call = URL(string: "tel:\(phone)") {
                Link(phone, destination: call)
            }
            if let website = restaurant.website {
                Link(website.host() ?? "Website", destination: website)
            }
        }
        if !restaurant.openingHours.isEmpty {
            Section("Open") {
                ForEach(restaurant.openingHours, id: \.self) { line in Text(line) }
            }
        }
    }
}
#endif
