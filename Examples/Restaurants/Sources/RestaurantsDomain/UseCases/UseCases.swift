public import Foundation

/// All use cases of the app, over seven repositories.
public struct UseCases: Sendable {
    /// Lists restaurants.
    public let list: ListRestaurants
    /// Finds the restaurants around a place.
    public let findNearby: FindNearbyRestaurants
    /// Finds restaurants by words.
    public let search: SearchRestaurants
    /// Shows the details of restaurants.
    public let show: ShowRestaurant
    /// Adds and removes favourites.
    public let toggleFavourite: ToggleFavourite
    /// Lists a user’s favourites.
    public let listFavourites: ListFavourites
    /// Rates restaurants.
    public let rate: RateRestaurant
    /// Reloads all restaurants.
    public let refresh: RefreshRestaurants
    /// Delivers changes.
    public let watch: WatchRestaurants
    /// Lists the changes that the service has not received.
    public let listPending: ListPendingChanges
    /// Signs a user in.
    public let signIn: SignIn
    /// Signs the user out.
    public let signOut: SignOut
    /// Shows the signed-in user.
    public let showCurrentUser: ShowCurrentUser
    /// Records usage data and shows their state.
    public let usage: AccountForUsage

    /// Creates the use cases.
    public init(
        restaurants: any RestaurantRepository,
        favourites: any FavouriteRepository,
        ratings: any RatingRepository,
        changes: any PendingChangeRepository,
        accounts: any AccountRepository,
        whereabouts: any WhereaboutsRepository,
        usage: any UsageRepository,
        now: @escaping @Sendable () -> Date
    ) {
        list = ListRestaurants(restaurants: restaurants)
        findNearby = FindNearbyRestaurants(
            restaurants: restaurants,
            whereabouts: whereabouts
        )
        search = SearchRestaurants(restaurants: restaurants)
        show = ShowRestaurant(restaurants: restaurants, favourites: favourites, ratings: ratings)
        toggleFavourite = ToggleFavourite(
            restaurants: restaurants,
            favourites: favourites,
            now: now
        )
        listFavourites = ListFavourites(
            restaurants: restaurants,
            favourites: favourites,
            ratings: ratings
        )
        rate = RateRestaurant(restaurants: restaurants, ratings: ratings, now: now)
        refresh = RefreshRestaurants(restaurants: restaurants)
        watch = WatchRestaurants(
            restaurants: restaurants,
            favourites: favourites,
            ratings: ratings
        )
        listPending = ListPendingChanges(restaurants: restaurants, changes: changes)
        signIn = SignIn(accounts: accounts)
        signOut = SignOut(accounts: accounts)
        showCurrentUser = ShowCurrentUser(accounts: accounts)
        self.usage = AccountForUsage(usage: usage)
    }
}
