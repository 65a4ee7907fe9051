public import Observation
public import RestaurantsDomain

/// The details of a restaurant.
@MainActor
@Observable
public final class RestaurantDetailModel {
    /// The restaurant's id.
    public let id: RestaurantID
    /// The restaurant with its ratings.
    public private(set) var content = ScreenContent<RestaurantDetails>.loading
    /// Whether it is shown as a favourite of the user.
    public private(set) var isFavourite = false
    /// The user's stars, as shown.
    public private(set) var stars: Int?
    /// The failure of a choice.
    public private(set) var notice: ScreenFailure?

    private let session: SessionModel
    private var useCases: UseCases { session.useCases }

    /// Creates the details of a restaurant for the signed-in user.
    public init(_ id: RestaurantID, _ session: SessionModel) {
        self.id = id
        self.session = session
    }

    /// Loads the restaurant.
    public func load() async {
        if case .failed = content { content = .loading }
        do throws(DomainError) {
            let details = try await useCases.show(id, for: session.userID)
            content = .shown(details)
            isFavourite = details.favourite != nil
            stars = details.ownRating?.stars.count
        } catch {
            guard let failure = ScreenFailure(error) else { return }
            if content.value == nil { content = .failed(failure) } else { notice = failure }
        }
    }

    /// Adds or removes the favourite; the screen reverts the change if that fails.
    public func toggleFavourite() async {
        isFavourite.toggle()
        let wanted = isFavourite
        let toggle = FavouriteToggle(useCase: useCases.toggleFavourite)
        if let error = await toggle.set(wanted, id, for: session.userID) {
            isFavourite = !wanted
            notice = ScreenFailure(error)
        }
    }

    /// Rates the restaurant; the screen reverts the change if that fails.
    public func rate(_ count: Int) async {
        let before = stars
        stars = count
        do throws(DomainError) {
            try await useCases.rate(id, stars: count, for: session.userID)
            // The mean of all users has changed as well.
            await load()
        } catch {
            stars = before
            notice = ScreenFailure(error)
        }
    }

    /// Removes the notice from the screen.
    public func dismissNotice() { notice = nil }
}
