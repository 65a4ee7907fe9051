/// Brings what three sources have to tell into one line of events.
///
/// Nothing is told before all sources have said where they stand. A source waits until its events
/// were received, so that a slow receiver slows the sources and no queue grows.
actor LiveTeller {
    enum Source: Hashable {
        case restaurants
        case favourites
        case ratings
    }

    // Without `async`: while an event is received, no other can overtake it.
    private let receive: @Sendable (LiveEvent) -> WatchRestaurants.Wish
    private var counts: [Source: Int] = [:]
    private var hasBegun = false
    private var early: [LiveEvent] = []
    private var wish = WatchRestaurants.Wish.more

    init(_ receive: @escaping @Sendable (LiveEvent) -> WatchRestaurants.Wish) {
        self.receive = receive
    }

    func begin(_ source: Source, count: Int) -> WatchRestaurants.Wish {
        counts[source] = count
        if !hasBegun, let restaurants = counts[.restaurants],
            let favourites = counts[.favourites], let ratings = counts[.ratings]
        {
            hasBegun = true
            hand(.began(restaurants: restaurants, favourites: favourites, ratings: ratings))
            for event in early { hand(event) }
            early = []
        }
        return wish
    }

    func tell(_ events: [LiveEvent]) -> WatchRestaurants.Wish {
        guard hasBegun else {
            early += events
            return .more
        }
        for event in events { hand(event) }
        return wish
    }

    /// After the event that was enough, none is handed over.
    private func hand(_ event: LiveEvent) {
        guard wish == .more else { return }
        wish = receive(event)
    }
}
