public import Observation
public import RestaurantsDomain

/// All about one restaurant.
@MainActor
@Observable
public final class RestaurantDetailModel {
    /// Which restaurant it is.
    public let id: RestaurantID
    /// The restaurant with what users think of it.
    public private(set) var content = ScreenContent<RestaurantDetails>.loading
    /// Whether the user likes it, as the screen shows it.
    public private(set) var isFavourite = false
    /// The user's stars, as the screen shows them.
    public private(set) var stars: Int?
    /// A choice that was refused.
    public private(set) var notice: ScreenFailure?

    private let session: SessionModel
    private var useCases: UseCases { session.useCases }

    /// Creates the details of a restaurant for whoever is signed in.
    public init(_ id: RestaurantID, _ session: SessionModel) {
        self.id = id
        self.session = session
    }

    /// Shows the restaurant.
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

    /// Makes it a favourite, or ends that; taken back on the screen if it is refused.
    public func toggleFavourite() async {
        isFavourite.toggle()
        let wanted = isFavourite
        let toggle = FavouriteToggle(useCase: useCases.toggleFavourite)
        if let error = await toggle.set(wanted, id, for: session.userID) {
            isFavourite = !wanted
            notice = ScreenFailure(error)
        }
    }

    /// Gives stars; taken back on the screen if they are refused.
    public func rate(_ count: Int) async {
        let before = stars
        stars = count
        do throws(DomainError) {
            try await useCases.rate(id, stars: count, for: session.userID)
            // The mean of all users has changed with it.
            await load()
        } catch {
            stars = before
            notice = ScreenFailure(error)
        }
    }

    /// Takes the notice off the screen.
    public func dismissNotice() { notice = nil }
}
