public import KeelStorage

extension StorageSchema {
    /// What the queries of the app need; the store builds it when it is first opened.
    public static let restaurants = StorageSchema(
        indexes: [
            IndexDefinition("restaurants", [.ascending("listingKey")]),
            IndexDefinition("restaurants", [.ascending("borough"), .ascending("listingKey")]),
            IndexDefinition("restaurants", [.ascending("cuisine"), .ascending("listingKey")]),
            IndexDefinition(
                "restaurants",
                [.ascending("borough"), .ascending("cuisine"), .ascending("listingKey")]
            ),
            // The ratings of all users for one restaurant.
            IndexDefinition("ratings", scope: .group, [.ascending("restaurant")]),
        ],
        searches: [
            SearchDefinition(
                "restaurants",
                fields: ["name", "cuisine", "borough", "address"]
            )
        ]
    )
}
