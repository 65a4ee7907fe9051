public import Foundation
public import RestaurantsDomain

/// All that the app can do, made of six repositories.
public struct UseCases: Sendable {
    let list: ListRestaurants
    let search: SearchRestaurants
    let show: ShowRestaurant
    let toggleFavourite: ToggleFavourite
    let listFavourites: ListFavourites
    let rate: RateRestaurant
    let refresh: RefreshRestaurants
    let watch: WatchRestaurants
    let listPending: ListPendingChanges
    let signIn: SignIn
    let signOut: SignOut
    let showCurrentUser: ShowCurrentUser
    let usage: AccountForUsage

    /// Creates the use cases.
    public init(
        restaurants: any RestaurantRepository,
        favourites: any FavouriteRepository,
        ratings: any RatingRepository,
        changes: any PendingChangeRepository,
        accounts: any AccountRepository,
        usage: any UsageRepository,
        now: @escaping @Sendable () -> Date
    ) {
        list = ListRestaurants(restaurants: restaurants)
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
