public import KeelStorage

extension StorageSchema {
    /// The indexes of the app's queries; the store builds them when it is first opened.
    public static let restaurants = StorageSchema(
        indexes: [
            IndexDefinition("restaurants", [.ascending("listingKey")]),
            IndexDefinition("restaurants", [.ascending("borough"), .ascending("listingKey")]),
            IndexDefinition("restaurants", [.ascending("cuisine"), .ascending("listingKey")]),
            IndexDefinition(
                "restaurants",
                [.ascending("borough"), .ascending("cuisine"), .ascending("listingKey")]
            ),
            // The ratings of a restaurant by all users.
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
