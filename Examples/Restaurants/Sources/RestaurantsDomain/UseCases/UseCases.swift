public import Foundation

/// All that the app can do, made of seven repositories.
public struct UseCases: Sendable {
    /// Lists restaurants.
    public let list: ListRestaurants
    /// Finds the restaurants around a place.
    public let findNearby: FindNearbyRestaurants
    /// Finds restaurants by words.
    public let search: SearchRestaurants
    /// Shows all about restaurants.
    public let show: ShowRestaurant
    /// Makes favourites, and ends that.
    public let toggleFavourite: ToggleFavourite
    /// Lists a user’s favourites.
    public let listFavourites: ListFavourites
    /// Gives stars.
    public let rate: RateRestaurant
    /// Loads all restaurants anew.
    public let refresh: RefreshRestaurants
    /// Tells what changes.
    public let watch: WatchRestaurants
    /// Lists what the service does not know yet.
    public let listPending: ListPendingChanges
    /// Signs a user in.
    public let signIn: SignIn
    /// Signs the user out.
    public let signOut: SignOut
    /// Tells who is signed in.
    public let showCurrentUser: ShowCurrentUser
    /// Accounts for what is noted of the app’s use.
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
